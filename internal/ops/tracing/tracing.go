// Package tracing sends spans of runs to an OpenTelemetry collector if the owner configured one. Otherwise a span
// costs nothing.
//
// A span contains the run, the connector, what started it and how it ended. Attributes come from four functions, so
// nothing else, and no content, can get into a span.
package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	api "go.opentelemetry.io/otel/trace"
)

// exportTimeout bounds one delivery, and with it how long a shutdown can take.
const exportTimeout = 2 * time.Second

// tracer is what spans are made by; nil while tracing is off.
var tracer atomic.Pointer[api.Tracer]

// Start sends spans to the collector at the endpoint, the value of
// OTEL_EXPORTER_OTLP_ENDPOINT. An empty endpoint leaves tracing off. Shutdown
// delivers what is left and turns tracing off; it is never nil.
func Start(ctx context.Context, endpoint, version string) (shutdown func(context.Context) error, err error) {
	nothing := func(context.Context) error { return nil }
	if endpoint == "" {
		return nothing, nil
	}
	target, err := tracesURL(endpoint)
	if err != nil {
		return nothing, err
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(target),
		otlptracehttp.WithTimeout(exportTimeout),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: false}))
	if err != nil {
		return nothing, fmt.Errorf("prepare the export of traces: %w", err)
	}
	sayOnce()
	provider := trace.NewTracerProvider(
		trace.WithBatcher(exporter, trace.WithExportTimeout(exportTimeout)),
		// Neither the host nor the process is named.
		trace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "pdpp"), attribute.String("service.version", version))),
	)
	t := provider.Tracer("pdpp")
	tracer.Store(&t)
	return func(ctx context.Context) error {
		tracer.CompareAndSwap(&t, nil)
		return provider.Shutdown(ctx)
	}, nil
}

// tracesURL is where traces go below the endpoint, as the OpenTelemetry
// specification has it. Its errors do not repeat the endpoint, which may hold a password.
func tracesURL(endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", errors.New("the endpoint for traces is not a web address; set OTEL_EXPORTER_OTLP_ENDPOINT to one like " +
			"http://localhost:4318")
	}
	return u.JoinPath("v1", "traces").String(), nil
}

// sayOnce lets the first trouble with a delivery be known, and no other: a
// collector that is away is away for every batch.
func sayOnce() {
	var once sync.Once
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		once.Do(func() { slog.Warn("traces cannot be delivered", "error", err) })
	}))
}
