package command

import (
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// Progress is shown after a while and now and then, and leaves nothing on the terminal.
func TestProgress(t *testing.T) {
	for total, want := range map[int64]string{
		300: "\r\x1b[K128 of about 300 records: notes\r\x1b[K192 of about 300 records: notes" +
			"\r\x1b[K256 of about 300 records: notes\r\x1b[K",
		0: "\r\x1b[K128 records and files: notes\r\x1b[K192 records and files: notes" +
			"\r\x1b[K256 records and files: notes\r\x1b[K",
	} {
		var shown strings.Builder
		now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
		p := &Progress{to: &shown, total: total, now: func() time.Time { return now }, next: now.Add(progressAfter)}
		for range 300 {
			now = now.Add(3 * time.Millisecond)
			p.Note(&api.Stream{Name: "notes"}, 1)
		}
		p.Clear()
		p.Clear()
		if shown.String() != want {
			t.Errorf("%q, want %q", shown.String(), want)
		}
	}
}
