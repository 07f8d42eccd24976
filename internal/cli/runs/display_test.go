package runs

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

func TestPlainProgressOncePerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		inv := &command.Invocation{ErrOut: &out}
		v := newRunDisplay(inv, store.Connection{DisplayName: "Orchard Journal"})
		v.begin(t.Context())
		v.started("run_1")
		time.Sleep(50 * time.Millisecond)
		for i := range 50 { // ten updates in each of five seconds
			v.observe(runner.Update{Records: int64(i + 1), Stream: "entries", Message: "reading"})
			v.observe(runner.Update{Committed: int64(i / 10)})
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(10 * time.Second) // nothing changes any more
		v.end()
		want := "Orchard Journal: run run_1\n" +
			"10 records, entries reading\n20 records, entries reading\n30 records, entries reading\n40 records, entries " +
			"reading\n50 records, entries reading\n"
		if out.String() != want {
			t.Errorf("got\n%s\nwant\n%s", out.String(), want)
		}
	})
}

func TestViewAcknowledgesCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		v := newRunDisplay(&command.Invocation{ErrOut: &out}, store.Connection{})
		ctx, cancel := context.WithCancel(t.Context())
		v.begin(ctx)
		cancel()
		synctest.Wait()
		v.end()
		if !strings.HasPrefix(out.String(), "Stopping; what is finished is kept.") {
			t.Errorf("got %q", out.String())
		}
	})
}

func TestViewIsSilentForJSON(t *testing.T) {
	var out bytes.Buffer
	v := newRunDisplay(&command.Invocation{ErrOut: &out, JSON: true}, store.Connection{})
	v.begin(t.Context())
	v.started("run_1")
	v.observe(runner.Update{Records: 1, Message: "reading"})
	v.end()
	if out.Len() > 0 {
		t.Errorf("got %q", out.String())
	}
}

func TestProgressLine(t *testing.T) {
	three, nine := 3.0, 9.0
	tests := []struct {
		p    runProgressState
		want string
	}{
		{runProgressState{}, "0 records"},
		{runProgressState{records: 1}, "1 record"},
		{runProgressState{records: 1234, gaps: 2, message: "resting"}, "1,234 records, 2 gaps, resting"},
		{runProgressState{records: 5, stream: "entries", message: "entries: 5"}, "5 records, entries: 5"},
		{runProgressState{records: 5, stream: "entries", message: "page", count: &three, total: &nine},
			"5 records, entries page (3 of 9)"},
		{runProgressState{records: 5, rate: &protocol.CollectionRate{EffectiveRatePerMin: 240}},
			"5 records, 240 requests/min"},
	}
	for _, tt := range tests {
		if got := tt.p.line(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestBar(t *testing.T) {
	var screen bytes.Buffer
	b := newProgressBar(&screen)
	three, nine := 3.0, 9.0
	b.paint(runProgressState{records: 250, message: "walking"})
	if got := screen.String(); !strings.Contains(got, "(250, ") || !strings.Contains(got, "records/") ||
		!strings.Contains(got, "walking") {
		t.Errorf("without an end: %q", got)
	}
	screen.Reset()
	b.paint(runProgressState{records: 250, stream: "entries", message: "page", count: &three, total: &nine})
	if got := screen.String(); !strings.Contains(got, "33%") || !strings.Contains(got, "3/9") {
		t.Errorf("with a total: %q", got)
	}
	screen.Reset()
	b.paint(runProgressState{records: 260, stream: "photos", message: "page", count: &nine, total: &nine})
	b.paint(runProgressState{records: 270, message: "resting"})
	if got := screen.String(); !strings.Contains(got, "(270, ") {
		t.Errorf("without an end again: %q", got)
	}
	screen.Reset()
	b.clear()
	if got := screen.String(); got != "\x1b[2K\r" {
		t.Errorf("clear writes %q", got)
	}
}
