package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	api "go.opentelemetry.io/otel/trace"
)

// Attr is one thing that a span says.
type Attr struct{ key, value string }

// RunID names the run.
func RunID(id string) Attr { return Attr{"pdpp.run_id", id} }

// Connector names the connector.
func Connector(name string) Attr { return Attr{"pdpp.connector", name} }

// Trigger says what asked for the run.
func Trigger(kind string) Attr { return Attr{"pdpp.trigger", kind} }

// Status says how the run, or the part of it, ended.
func Status(status string) Attr { return Attr{"pdpp.status", status} }

// Span is a span that is open. The zero value is one of a program that does not trace.
type Span struct{ span api.Span }

// Open opens a span below the one in the context, and gives the context of
// what happens within. While tracing is off it does nothing.
func Open(ctx context.Context, name string, attrs ...Attr) (context.Context, Span) {
	t := tracer.Load()
	if t == nil {
		return ctx, Span{}
	}
	ctx, span := (*t).Start(ctx, name, api.WithAttributes(attributes(attrs)...))
	return ctx, Span{span}
}

// End closes the span.
func (s Span) End(attrs ...Attr) {
	if s.span == nil {
		return
	}
	s.span.SetAttributes(attributes(attrs)...)
	s.span.End()
}

// Fail closes the span as one that went wrong. Why is in the log, not here.
func (s Span) Fail(attrs ...Attr) {
	if s.span == nil {
		return
	}
	s.span.SetStatus(codes.Error, "")
	s.End(attrs...)
}

func attributes(attrs []Attr) []attribute.KeyValue {
	out := make([]attribute.KeyValue, len(attrs))
	for i, a := range attrs {
		out[i] = attribute.String(a.key, a.value)
	}
	return out
}
