package runs

import (
	"bytes"
	"io"

	"github.com/schollz/progressbar/v3"

	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
)

// progressBarPainter shows progress on a terminal: a bar if the connector reports a total, otherwise a spinner with
// count and rate.
type progressBarPainter struct {
	w      io.Writer
	frame  bytes.Buffer // one painting, written at once so that it does not flicker
	bar    *progressbar.ProgressBar
	stream string
	total  int64
}

func newProgressBar(w io.Writer) *progressBarPainter {
	b := &progressBarPainter{w: w}
	b.begin("", -1)
	return b
}

// begin starts a bar. A total of -1 means that the total is unknown.
func (b *progressBarPainter) begin(stream string, total int64) {
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

// paint draws one frame. It ignores errors of the terminal.
func (b *progressBarPainter) paint(p runProgressState) {
	n, total := p.records, int64(-1)
	if p.count != nil && p.total != nil && *p.total >= 1 {
		total = int64(*p.total)
		n = min(int64(*p.count), total)
	}
	if total != b.total || total > 0 && p.stream != b.stream {
		b.begin(p.stream, total)
	}
	_ = b.bar.Set64(n)
	b.bar.Describe(text.Cut(output.SingleLine(p.detail()), 40)) // our own codes go beside it, unfiltered
	b.flush()
}

func (b *progressBarPainter) clear() {
	_ = b.bar.Clear()
	b.flush()
}

func (b *progressBarPainter) flush() {
	_, _ = b.frame.WriteTo(b.w)
}
