package browser

import (
	"bytes"
	"context"
	"flag"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/protocol"
)

// seatOn is a fake desk with a real page.
type seatOn struct {
	*fakeDesk
	t   *tab
	log *slog.Logger
}

func (s seatOn) place(ctx context.Context) pagePlace {
	return pageMetadata(ctx, s.t, pagePlace{address: "http://known.example/before"}, s.log)
}

var measure = flag.String("measure", "",
	"where TestMetadataOfAPage writes how long a page that loops takes to be named, in milliseconds")

// TestMetadataOfAPage: a question to the owner waits for no page, and not for long for the browser.
func TestMetadataOfAPage(t *testing.T) {
	b := lend(t)
	ctx := within(t, time.Minute)
	page, err := b.tabs.openTab(ctx)
	must(t, err)
	defer page.close(context.Background())
	must(t, page.load(ctx, b.web.URL+"/loop"))
	page.awaitDocument(ctx)
	ask := func() (string, string, time.Duration) {
		t.Helper()
		var asked string
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, nil))
		fake := &fakeDesk{probes: []func(context.Context) (SessionState, error){always(SignedOut{}), always(Live{"ada"})}}
		e := sitting(fake, &log)
		e.desk, e.ask = seatOn{fake, page, logger}, func(_ context.Context, q protocol.Interaction) error {
			asked = q.Message
			return nil
		}
		began := time.Now()
		must(t, e.run(ctx))
		return asked, log.String(), time.Since(began)
	}
	wedged := func() bool {
		limited, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
		return page.call(limited, "() => 1", nil) != nil
	}
	for !wedged() {
	}
	t.Run("of one that loops", func(t *testing.T) {
		t.Attr("spec", "RT-13.2")
		asked, log, _ := ask()
		if want := `"Looping" at ` + b.web.URL + "/loop"; !strings.Contains(asked, want) ||
			strings.Contains(log, "page_metadata_timeout") {
			t.Errorf("asked %q, log %q", asked, log)
		}
		if *measure == "" {
			return
		}
		var took []time.Duration
		for range 101 {
			began := time.Now()
			if got := pageMetadata(ctx, page, pagePlace{}, slog.New(slog.DiscardHandler)); got.title != "Looping" {
				t.Errorf("it is %+v", got)
			}
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		must(t, os.WriteFile(*measure, []byte(strconv.FormatFloat(took[50].Seconds()*1000, 'f', 3, 64)), 0o644))
	})
	t.Run("of a browser that hangs", func(t *testing.T) {
		t.Attr("spec", "RT-13.1")
		pid := b.process.cmd.Process.Pid
		must(t, syscall.Kill(pid, syscall.SIGSTOP))
		defer func() { must(t, syscall.Kill(pid, syscall.SIGCONT)) }()
		asked, log, took := ask()
		if !strings.Contains(asked, "http://known.example/before") || strings.Count(log, "page_metadata_timeout") != 1 {
			t.Errorf("asked %q, log %q", asked, log)
		}
		if took < metadataLimit || took > 2*metadataLimit {
			t.Errorf("asked after %s", took)
		}
	})
}
