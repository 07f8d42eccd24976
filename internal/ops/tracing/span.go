package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	api "go.opentelemetry.io/otel/trace"
)

// Attr is one attribute of a span.
type Attr struct{ key, value string }

// RunID names the run.
func RunID(id string) Attr { return Attr{"pdpp.run_id", id} }

// Connector names the connector.
func Connector(name string) Attr { return Attr{"pdpp.connector", name} }

// Trigger is what requested the run.
func Trigger(kind string) Attr { return Attr{"pdpp.trigger", kind} }

// StatusAttr is how the run or its part ended.
func StatusAttr(status string) Attr { return Attr{"pdpp.status", status} }

// Span is a span that is open. The zero value is one of a program that does not trace.
type Span struct{ span api.Span }

// Open starts a child span of the one in the context, and returns its context. It does nothing while tracing is off.
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
