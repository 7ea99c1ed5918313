package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
)

// http1 is a collector that takes OTLP over HTTP.
func http1(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusBadRequest) }))
	t.Cleanup(server.Close)
	return server.URL
}

// overGRPC is one that takes it over gRPC, at an address of TCP or a path.
func overGRPC(t *testing.T, network, address string) string {
	l := listener(t, network, address)
	server := grpc.NewServer()
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	return l.Addr().String()
}

// stranger is neither.
func stranger(t *testing.T) string {
	return answering(t, func(conn net.Conn) { _, _ = io.WriteString(conn, "220 mail.example ESMTP\r\n") })
}

// hangUp closes every connection without a word, as a load balancer without a backend.
func hangUp(t *testing.T) string {
	return answering(t, func(conn net.Conn) { _, _ = conn.Read(make([]byte, 4096)) })
}

// answering does the same with every connection, and closes it.
func answering(t *testing.T, answer func(net.Conn)) string {
	l := listener(t, "tcp", "127.0.0.1:0")
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			answer(conn)
			conn.Close()
		}
	}()
	return "http://" + l.Addr().String()
}

func listener(t *testing.T, network, address string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// to is a collector at an endpoint, with a password that nobody shall see.
func to(t *testing.T, endpoint, protocol string) Collector {
	t.Helper()
	u, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	shown := u.String()
	u.User = url.UserPassword("me", "geheim")
	return Collector{Signals: "traces", Protocol: protocol, Endpoint: u, Shown: shown}
}

func TestCollector(t *testing.T) {
	plain, secure, rpc := http1(t), httptest.NewTLSServer(http.NotFoundHandler()), "http://"+overGRPC(t, "tcp", "127.0.0.1:0")
	t.Cleanup(secure.Close)
	socket := overGRPC(t, "unix", filepath.Join(t.TempDir(), "socket"))
	for _, test := range []struct {
		endpoint, protocol string
		level              Level
		found              string
	}{
		{rpc, "grpc", Good, "is reached and speaks grpc, for traces"},
		{"unix://" + socket, "grpc", Good, "is reached and speaks grpc"},
		{plain, "http/protobuf", Good, "is reached and speaks http/protobuf"},
		{plain, "grpc", Warning, "speaks HTTP/1.1, and grpc is asked for"},
		{rpc, "http/protobuf", Warning, "speaks HTTP/2 alone, as gRPC does, and http/protobuf is asked for"},
		{stranger(t), "http/protobuf", Warning, "answers neither as HTTP nor as gRPC"},
		{hangUp(t), "grpc", Warning, "hangs up without an answer"},
		{hangUp(t), "http/protobuf", Warning, "hangs up without an answer"},
		{"http://127.0.0.1:1", "grpc", Warning, "is not reached"},
		{strings.Replace(plain, "http:", "https:", 1), "http/protobuf", Warning, "TLS"},
		{secure.URL, "http/protobuf", Warning, "is not trusted: x509: "},
	} {
		s := subject()
		s.Collectors = []Collector{to(t, test.endpoint, test.protocol)}
		list := telemetry(t.Context(), s)
		expect(t, list, test.level, test.found)
		if strings.Contains(list[0].Found, "geheim") {
			t.Errorf("a password: %+v", list)
		}
	}
	trusted := to(t, secure.URL, "http/protobuf")
	trusted.TLS = &tls.Config{RootCAs: x509.NewCertPool()}
	trusted.TLS.RootCAs.AddCert(secure.Certificate())
	s := subject()
	s.Collectors = []Collector{trusted}
	expect(t, telemetry(t.Context(), s), Good, "is reached and speaks http/protobuf")
	s.Collectors[0].Proxy = "proxy:3128"
	expect(t, telemetry(t.Context(), s), Note, "through the proxy proxy:3128, which was not tried")
}

// Without a collector.
func TestTelemetryElsewhere(t *testing.T) {
	s := subject()
	expect(t, telemetry(t.Context(), s), Note, "no collector is named")
	s.TelemetryElse = "file run/spans.jsonl"
	expect(t, telemetry(t.Context(), s), Good, "it goes to file run/spans.jsonl")
	s.TelemetryFault = `OTEL_EXPORTER_OTLP_ENDPOINT="c:4317" is no endpoint`
	expect(t, telemetry(t.Context(), s), Warning, "is no endpoint")
}

// Where the exporters connect to, if the endpoint has no port.
func TestHostPort(t *testing.T) {
	for endpoint, want := range map[string][2]string{
		"http://c": {"c:80", "c:443"}, "https://c": {"c:443", "c:443"}, "http://c:4317": {"c:4317", "c:4317"}, "http://[fd00::1]:4317": {"[fd00::1]:4317", "[fd00::1]:4317"},
	} {
		u, err := url.Parse(endpoint)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]string{hostPort(u, false), hostPort(u, true)}; got != want {
			t.Errorf("%s: %q, want %q", endpoint, got, want)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n"))
	f.Add([]byte("\x00\x00\x06\x04\x00\x00\x00\x00\x00"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, err := answer(strings.NewReader(string(text))); err == nil && got == "" {
			t.Errorf("%q is nothing", text)
		}
	})
	if _, err := answer(broken{}); err == nil {
		f.Error("a connection that is silent until the time is over has no protocol")
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("i/o timeout") }
