package tracing

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// receiver is an OpenTelemetry collector that keeps what it gets.
type receiver struct {
	mu       sync.Mutex
	path     string
	resource map[string]string
	spans    map[string]*otlp.Span // by name
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	var message collector.ExportTraceServiceRequest
	if err != nil || proto.Unmarshal(body, &message) != nil {
		http.Error(w, "not spans", http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.path = req.URL.Path
	for _, rs := range message.GetResourceSpans() {
		r.resource = words(rs.GetResource().GetAttributes())
		for _, ss := range rs.GetScopeSpans() {
			for _, span := range ss.GetSpans() {
				r.spans[span.GetName()] = span
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func words(attrs []*common.KeyValue) map[string]string {
	out := map[string]string{}
	for _, a := range attrs {
		out[a.GetKey()] = a.GetValue().GetStringValue()
	}
	return out
}

func TestSpansArrive(t *testing.T) {
	got := &receiver{spans: map[string]*otlp.Span{}}
	srv := httptest.NewServer(got)
	defer srv.Close()
	shutdown, err := Start(t.Context(), srv.URL, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	ctx, run := Open(t.Context(), "run", RunID("run_1"), Connector("acme"), Trigger("scheduled"))
	_, slice := Open(ctx, "slice commit", RunID("run_1"))
	slice.Fail(StatusAttr("lease_lost"))
	run.End(StatusAttr("succeeded"))
	if err := shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}

	if got.path != "/v1/traces" {
		t.Errorf("sent to %s", got.path)
	}
	if diff := cmp.Diff(map[string]string{"service.name": "pdpp", "service.version": "1.2.3"}, got.resource); diff != "" {
		t.Errorf("resource (-want +got):\n%s", diff)
	}
	outer, inner := got.spans["run"], got.spans["slice commit"]
	if outer == nil || inner == nil {
		t.Fatalf("got %v", got.spans)
	}
	want := map[string]string{"pdpp.run_id": "run_1", "pdpp.connector": "acme", "pdpp.trigger": "scheduled",
		"pdpp.status": "succeeded"}
	if diff := cmp.Diff(want, words(outer.GetAttributes())); diff != "" {
		t.Errorf("attributes (-want +got):\n%s", diff)
	}
	if string(inner.GetParentSpanId()) != string(outer.GetSpanId()) {
		t.Error("the commit is not within its run")
	}
	if inner.GetStatus().GetCode() != otlp.Status_STATUS_CODE_ERROR ||
		outer.GetStatus().GetCode() == otlp.Status_STATUS_CODE_ERROR {
		t.Errorf("status of the commit %v, of the run %v", inner.GetStatus(), outer.GetStatus())
	}
	if _, after := Open(t.Context(), "run"); after != (Span{}) {
		t.Error("spans are still made after the shutdown")
	}
}

func TestOffCostsNothing(t *testing.T) {
	shutdown, err := Start(t.Context(), "", "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	id := strings.Repeat("x", 20)
	allocations := testing.AllocsPerRun(100, func() {
		within, span := Open(ctx, "run", RunID(id), Connector("acme"))
		if within != ctx {
			t.Error("the context changed")
		}
		span.End(StatusAttr("succeeded"))
		span.Fail()
	})
	if allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
	if err := shutdown(ctx); err != nil {
		t.Error(err)
	}
}

func TestEndpointMustBeAWebAddress(t *testing.T) {
	for _, endpoint := range []string{"collector.example:4318", "ftp://collector.example", "http:///x", "://ada:pw@x",
		"/v1/traces"} {
		shutdown, err := Start(t.Context(), endpoint, "1")
		if err == nil || shutdown == nil {
			t.Fatalf("%q is taken: %v", endpoint, err)
		}
		if strings.Contains(err.Error(), endpoint) {
			t.Errorf("the error repeats the endpoint: %v", err)
		}
	}
	for endpoint, want := range map[string]string{
		"http://collector.example:4318":    "http://collector.example:4318/v1/traces",
		"https://collector.example/otlp/":  "https://collector.example/otlp/v1/traces",
		"https://collector.example/a?x=y":  "https://collector.example/a/v1/traces?x=y",
		"http://[::1]:4318":                "http://[::1]:4318/v1/traces",
		"https://collector.example/x/../y": "https://collector.example/y/v1/traces",
	} {
		if got, err := tracesURL(endpoint); err != nil || got != want {
			t.Errorf("%s gives %s, %v", endpoint, got, err)
		}
	}
}
