// Package logging makes the logger of a program: text for people or JSON for
// machines, with secrets taken out, and with the ids of the run and of its connection
// on every line that is written below a run.
package logging

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/pdpp-go/pdpp/internal/ops/redact"
)

// Format is how lines look.
type Format string

const (
	Text Format = "text"
	JSON Format = "json"
)

// New makes a logger that writes to w what is at least as severe as level.
// Values that look secret, by their name or by their shape, are taken out.
func New(w io.Writer, format Format, level slog.Level) (*slog.Logger, error) {
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: withoutSecrets(redact.New())}
	switch format {
	case Text:
		return slog.New(runHandler{slog.NewTextHandler(w, options)}), nil
	case JSON:
		return slog.New(runHandler{slog.NewJSONHandler(w, options)}), nil
	default:
		return nil, fmt.Errorf("the format of the log is %q; it can be text or json", format)
	}
}

// withoutSecrets redacts everything that can contain text. Numbers, times and booleans stay, unless their key names a
// secret.
func withoutSecrets(r *redact.Redactor) func([]string, slog.Attr) slog.Attr {
	return func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey) {
			return a
		}
		if len(groups) == 0 && (a.Key == runKey || a.Key == connectionKey) {
			return a // made by this program
		}
		if redact.SecretName(a.Key) {
			return slog.String(a.Key, redact.Mark)
		}
		switch a.Value.Kind() {
		case slog.KindString:
			return slog.String(a.Key, r.Text(a.Value.String()))
		case slog.KindAny:
			return slog.String(a.Key, r.Text(fmt.Sprint(a.Value.Any())))
		default:
			return a
		}
	}
}

// Of every line that belongs to a run.
const (
	runKey        = "run_id"
	connectionKey = "connection_id"
)

type runContext struct{}

// WithRun returns a context that adds the ids of the connection and its run to log lines. An empty run id means that
// the run has not started.
func WithRun(ctx context.Context, connectionID, runID string) context.Context {
	ids := []slog.Attr{slog.String(connectionKey, connectionID)}
	if runID != "" {
		ids = append(ids, slog.String(runKey, runID))
	}
	return context.WithValue(ctx, runContext{}, ids)
}

// runHandler adds the ids of the context's run.
type runHandler struct{ slog.Handler }

func (h runHandler) Handle(ctx context.Context, r slog.Record) error {
	if ids, ok := ctx.Value(runContext{}).([]slog.Attr); ok {
		r = r.Clone()
		r.AddAttrs(ids...)
	}
	return h.Handler.Handle(ctx, r)
}

func (h runHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return runHandler{h.Handler.WithAttrs(attrs)}
}
func (h runHandler) WithGroup(name string) slog.Handler { return runHandler{h.Handler.WithGroup(name)} }
