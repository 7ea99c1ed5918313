package doctor

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/grpc"
)

// http1 is a collector that takes OTLP over HTTP.
func http1(t *testing.T, secure bool) string {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusBadRequest) }))
	if secure {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server.URL
}

// overGRPC is one that takes it over gRPC.
func overGRPC(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	return "http://" + l.Addr().String()
}

// stranger is neither.
func stranger(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, "220 mail.example ESMTP\r\n")
			conn.Close()
		}
	}()
	return "http://" + l.Addr().String()
}

func TestCollector(t *testing.T) {
	plain, secure, rpc := http1(t, false), http1(t, true), overGRPC(t)
	for _, test := range []struct {
		endpoint, protocol string
		level              Level
		found              string
	}{
		{"", "", Note, "no collector is named"},
		{rpc, "", Good, "is reached and speaks grpc"},
		{rpc, "grpc", Good, "is reached and speaks grpc"},
		{plain, "http/protobuf", Good, "is reached and speaks http/protobuf"},
		{secure, "http/protobuf", Good, "is reached and speaks http/protobuf"},
		{plain, "grpc", Warning, "speaks HTTP/1.1, and grpc is asked for"},
		{rpc, "http/protobuf", Warning, "speaks HTTP/2 alone, as gRPC does, and http/protobuf is asked for"},
		{stranger(t), "http/protobuf", Warning, "answers neither as HTTP nor as gRPC"},
		{"http://127.0.0.1:1", "grpc", Warning, "is not reached"},
		{strings.Replace(plain, "http:", "https:", 1), "http/protobuf", Warning, "TLS"},
		{"collector:4317", "grpc", Warning, "is no endpoint"},
	} {
		s := subject()
		s.Env["OTEL_EXPORTER_OTLP_ENDPOINT"], s.Env["OTEL_EXPORTER_OTLP_PROTOCOL"] = test.endpoint, test.protocol
		expect(t, collector(t.Context(), s), test.level, test.found)
	}
	s := subject()
	s.Env["OTEL_EXPORTER_OTLP_ENDPOINT"], s.Env["OTEL_SDK_DISABLED"] = rpc, "true"
	expect(t, collector(t.Context(), s), Note, "no collector is named")
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
