package cli

import (
	"bytes"
	"io"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/schollz/progressbar/v3"
)

// bar shows progress on a terminal: a filling bar while the connector says how
// much there is, a moving mark with count and rate otherwise.
type bar struct {
	w      io.Writer
	frame  bytes.Buffer // one painting, written at once so that it does not flicker
	bar    *progressbar.ProgressBar
	stream string
	total  int64
}

func newBar(w io.Writer) *bar {
	b := &bar{w: w}
	b.begin("", -1)
	return b
}

// begin starts a bar for a known total, or one without an end for -1.
func (b *bar) begin(stream string, total int64) {
	b.stream, b.total = stream, total
	b.bar = progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(&b.frame),
		progressbar.OptionUseANSICodes(true),
		progressbar.OptionSetWidth(16),
		progressbar.OptionSpinnerType(14),
		progressbar.OptionSetSpinnerChangeInterval(0), // the display sets the pace
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionShowTotalBytes(total > 0),
		progressbar.OptionSetItsString("records"),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionShowDescriptionAtLineEnd(),
	)
	_ = b.bar.RenderBlank() // the rate counts from here
	b.frame.Reset()
}

// paint draws one frame. Errors of the terminal are not the run's concern.
func (b *bar) paint(p progress) {
	n, total := p.records, int64(-1)
	if p.count != nil && p.total != nil && *p.total >= 1 {
		total = int64(*p.total)
		n = min(int64(*p.count), total)
	}
	if total != b.total || total > 0 && p.stream != b.stream {
		b.begin(p.stream, total)
	}
	_ = b.bar.Set64(n)
	b.bar.Describe(text.Cut(oneLine(p.detail()), 40)) // our own codes go beside it, unfiltered
	b.flush()
}

func (b *bar) clear() {
	_ = b.bar.Clear()
	b.flush()
}

func (b *bar) flush() {
	_, _ = b.frame.WriteTo(b.w)
}
