package logging

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func logger(t *testing.T, format Format) (*slog.Logger, *bytes.Buffer) {
	t.Helper()
	var b bytes.Buffer
	l, err := New(&b, format, slog.LevelInfo)
	if err != nil {
		t.Fatal(err)
	}
	return l, &b
}

func TestSecretsAreTakenOut(t *testing.T) {
	type holder struct{ Token string }
	for _, format := range []Format{Text, JSON} {
		l, b := logger(t, format)
		l.Info("asked with Bearer abcdefgh12345678",
			"token", "t0psecret-a", "password", 1234567,
			"error", errors.New("GET https://ada:t0psecret-b@provider.example/x?key=t0psecret-c"),
			slog.Group("request", "authorization", "t0psecret-d", "mail", "ada@example.org"),
			"any", holder{"sk-t0psecret-e"}, "list", []string{"api_key=t0psecret-f"})
		l.With("cookie", "t0psecret-g").WithGroup("deep").Info("again", "session_id", "t0psecret-h")
		for _, secret := range []string{"t0psecret", "abcdefgh12345678", "1234567", "ada@"} {
			if strings.Contains(b.String(), secret) {
				t.Errorf("%s: %q is shown:\n%s", format, secret, b)
			}
		}
	}
}

func TestOrdinaryValuesStay(t *testing.T) {
	l, b := logger(t, JSON)
	l.Info("run ended", "connector", "acme", "records", 42, "took", 3*time.Second, "ok", true)
	var line map[string]any
	if err := json.Unmarshal(b.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	if line["msg"] != "run ended" || line["connector"] != "acme" || line["records"] != 42.0 || line["took"] != 3e9 ||
		line["ok"] != true ||
		line["level"] != "INFO" || line["time"] == nil {
		t.Errorf("got %v", line)
	}
}

func TestEveryLineOfARunNamesIt(t *testing.T) {
	l, b := logger(t, Text)
	ctx := WithRun(t.Context(), "con_123456", "run_1731670000123_0a1b2c3d4e")
	l.InfoContext(ctx, "one")
	l.With("connector", "acme").WarnContext(ctx, "two")
	l.ErrorContext(WithRun(t.Context(), "con_123456", ""), "before it")
	l.DebugContext(ctx, "too quiet")
	l.Info("of no run")
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 4 {
		t.Fatalf("%d lines:\n%s", len(lines), b)
	}
	for i, line := range lines {
		connections, runs := []int{1, 1, 1, 0}[i], []int{1, 1, 0, 0}[i]
		if strings.Count(line, "connection_id=con_123456") != connections ||
			strings.Count(line, "run_id=run_1731670000123_0a1b2c3d4e") != runs || strings.Count(line, "run_id=") != runs {
			t.Errorf("line %d does not name the connection %d times and the run %d times: %s", i+1, connections, runs, line)
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	if _, err := New(nil, "xml", slog.LevelInfo); err == nil || !strings.Contains(err.Error(), "text or json") {
		t.Errorf("got %v", err)
	}
}
