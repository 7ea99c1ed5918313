//go:build telemetry && linux

package telemetry

import (
	"bytes"
	"net/http"
	"testing"

	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	"lenslaunch/test/collector"
)

var protocols = []string{collector.GRPC, collector.HTTP}

// send sends a request as it is, with nothing of an SDK in between.
func send(t *testing.T, c *collector.Collector, protocol string, spans []*tracepb.ResourceSpans) {
	t.Helper()
	request := &coltracepb.ExportTraceServiceRequest{ResourceSpans: spans}
	if protocol == collector.GRPC {
		connection, err := grpc.NewClient(c.Address(protocol), grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		if _, err := coltracepb.NewTraceServiceClient(connection).Export(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		return
	}
	body, err := proto.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Post(c.Endpoint(protocol)+"/v1/traces", "application/x-protobuf", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatal(response.Status)
	}
}
