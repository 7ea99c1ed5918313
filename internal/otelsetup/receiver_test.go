package otelsetup

import (
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	colmetricpb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	metricpb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip" // so that the receiver can read it
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// receiver is a collector: it keeps what it is sent, over gRPC or HTTP.
type receiver struct {
	coltracepb.UnimplementedTraceServiceServer
	url    string
	reject int64 // how many spans of each batch to refuse

	mu      sync.Mutex
	headers []string // values of the header "api-key"
	batches []*tracepb.ResourceSpans
	metrics []*metricpb.ResourceMetrics
	refuse  bool          // metrics
	came    chan struct{} // has room for one: something has been received; may be nil
}

func (r *receiver) tell() {
	select {
	case r.came <- struct{}{}:
	default:
	}
}

// takeMetrics is take for metrics; false: they are refused.
func (r *receiver) takeMetrics(request *colmetricpb.ExportMetricsServiceRequest) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.refuse {
		r.metrics = append(r.metrics, request.ResourceMetrics...)
		r.tell()
	}
	return !r.refuse
}

// metricsService is the gRPC service for metrics.
type metricsService struct {
	colmetricpb.UnimplementedMetricsServiceServer
	r *receiver
}

func (m metricsService) Export(_ context.Context, request *colmetricpb.ExportMetricsServiceRequest) (*colmetricpb.ExportMetricsServiceResponse, error) {
	if !m.r.takeMetrics(request) {
		return nil, status.Error(codes.Unimplemented, "no metrics here")
	}
	return &colmetricpb.ExportMetricsServiceResponse{}, nil
}

// forget is for one more test with the same receiver.
func (r *receiver) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batches, r.metrics, r.refuse = nil, nil, false
}

// measured shows the sums of the latest metrics received and the resource that they had.
func (r *receiver) measured() (sums, resource map[string]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return measuredIn(r.metrics)
}

func measuredIn(all []*metricpb.ResourceMetrics) (sums, resource map[string]string) {
	sums, resource = map[string]string{}, map[string]string{}
	for _, m := range all {
		for _, kv := range m.Resource.Attributes {
			resource[kv.Key] = kv.Value.GetStringValue()
		}
		for _, scope := range m.ScopeMetrics {
			for _, one := range scope.Metrics {
				sums[one.Name] = strconv.FormatInt(one.GetSum().GetDataPoints()[0].GetAsInt(), 10)
			}
		}
	}
	return sums, resource
}

func (r *receiver) take(request *coltracepb.ExportTraceServiceRequest, key string) *coltracepb.ExportTraceServiceResponse {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.headers = append(r.headers, key)
	r.batches = append(r.batches, request.ResourceSpans...)
	r.tell()
	response := &coltracepb.ExportTraceServiceResponse{}
	if r.reject > 0 {
		response.PartialSuccess = &coltracepb.ExportTracePartialSuccess{RejectedSpans: r.reject, ErrorMessage: "too (much)\nof it"}
	}
	return response
}

// Export is the gRPC service.
func (r *receiver) Export(ctx context.Context, request *coltracepb.ExportTraceServiceRequest) (*coltracepb.ExportTraceServiceResponse, error) {
	headers, _ := metadata.FromIncomingContext(ctx)
	key := ""
	if values := headers.Get("api-key"); len(values) > 0 {
		key = values[0]
	}
	return r.take(request, key), nil
}

// ServeHTTP is the HTTP service.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body := io.Reader(request.Body)
	if request.Header.Get("Content-Encoding") == "gzip" {
		body, _ = gzip.NewReader(request.Body)
	}
	text, err := io.ReadAll(body)
	if request.URL.Path == "/v1/metrics" {
		r.serveMetrics(w, text)
		return
	}
	message := &coltracepb.ExportTraceServiceRequest{}
	if err != nil || request.URL.Path != "/v1/traces" || proto.Unmarshal(text, message) != nil {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	answer, _ := proto.Marshal(r.take(message, request.Header.Get("api-key")))
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(answer)
}

func (r *receiver) serveMetrics(w http.ResponseWriter, text []byte) {
	message := &colmetricpb.ExportMetricsServiceRequest{}
	if proto.Unmarshal(text, message) != nil || !r.takeMetrics(message) {
		http.Error(w, "no metrics here", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// spans lists everything received.
func (r *receiver) spans() []*tracepb.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []*tracepb.Span
	for _, batch := range r.batches {
		for _, scope := range batch.ScopeSpans {
			all = append(all, scope.Spans...)
		}
	}
	return all
}

// attributes shows the resource of everything received, which is one.
func (r *receiver) attributes(t *testing.T) map[string]string {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[string]string{}
	for _, batch := range r.batches {
		for _, kv := range batch.Resource.Attributes {
			all[kv.Key] = kv.Value.GetStringValue()
		}
	}
	return all
}

func startGRPC(t *testing.T, options ...grpc.ServerOption) *receiver {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &receiver{url: "http://" + l.Addr().String(), came: make(chan struct{}, 1)}
	server := grpc.NewServer(options...)
	coltracepb.RegisterTraceServiceServer(server, r)
	colmetricpb.RegisterMetricsServiceServer(server, metricsService{r: r})
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return r
}

// startHTTP serves with encryption if it is given a certificate.
func startHTTP(t *testing.T, certificate, key string) *receiver {
	t.Helper()
	r := &receiver{came: make(chan struct{}, 1)}
	server := httptest.NewUnstartedServer(r)
	if certificate == "" {
		server.Start()
	} else {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			t.Fatal(err)
		}
		server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
		server.StartTLS()
	}
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

// writeCertificate makes a certificate for 127.0.0.1 that is its own root.
func writeCertificate(t *testing.T) (certificate, key string) {
	t.Helper()
	dir := t.TempDir()
	certificate, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{
		certificate: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: keyDER},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}

func serverTLS(t *testing.T, certificate, key string) grpc.ServerOption {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	return grpc.Creds(credentials.NewServerTLSFromCert(&pair))
}

// blackHole accepts connections, says nothing, and reports the first bytes of
// each on a channel.
func blackHole(t *testing.T) (url string, heard <-chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	first := make(chan struct{}, 100)
	var group sync.WaitGroup
	group.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			group.Go(func() {
				defer c.Close()
				if n, _ := c.Read(make([]byte, 1)); n == 1 {
					select {
					case first <- struct{}{}:
					default:
					}
				}
				_, _ = io.Copy(io.Discard, c) // until the client gives up
			})
		}
	})
	t.Cleanup(func() { l.Close(); group.Wait() })
	return "http://" + l.Addr().String(), first
}

// refusing returns an endpoint where nobody listens.
func refusing(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}
