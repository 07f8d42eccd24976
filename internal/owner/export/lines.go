package export

import (
	"encoding/json"
	"io"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// lines writes one JSON object per line.
type lines struct{ encoder *json.Encoder }

func newLines(to io.Writer, _ []api.Stream) (Writer, error) {
	encoder := json.NewEncoder(to)
	encoder.SetEscapeHTML(false)
	return &lines{encoder}, nil
}

func (l *lines) Write(_ *api.Stream, r *Record) error { return l.encoder.Encode(r.Record) }

func (*lines) Close() error { return nil }
