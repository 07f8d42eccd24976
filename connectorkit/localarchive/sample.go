package localarchive

import (
	"bytes"
	"errors"
	"io"
	"path"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// maxHeadBytes bounds the beginning of a member that is compared with what the connector knows.
const maxHeadBytes = 64 << 10

// kindSample is that of the member's kind; nil for a member that only describes another one.
func (m *Member) kindSample() *connectorkit.Sample {
	if m.aside {
		return nil
	}
	return m.r.f.Sample(m.kind.Name, m.kind.Streams)
}

// recordBeginning keeps the first bytes that are read of a member, if they are to be compared.
func (m *Member) recordBeginning(content io.Reader, offset int64) io.Reader {
	if offset > 0 || m.head != nil || !m.kindSample().Due() {
		return content
	}
	m.head = &bytes.Buffer{}
	return io.TeeReader(content, &headWriter{m.head})
}

// headWriter keeps the first maxHeadBytes bytes.
type headWriter struct{ head *bytes.Buffer }

func (w *headWriter) Write(b []byte) (int, error) {
	w.head.Write(b[:min(len(b), maxHeadBytes-w.head.Len())]) // a buffer never fails
	return len(b), nil
}

// compareBeginning compares the beginning of a member, unless the error of its reader is that it is of another kind.
func (m *Member) compareBeginning(err error) {
	var refused *localfile.RefusedError
	if m.head == nil || m.head.Len() == 0 || errors.As(err, &refused) && refused.Reason == ReasonOtherKind {
		return
	}
	whole := m.head.Len() < maxHeadBytes
	content, err := io.ReadAll(DecodedText(m.head))
	if err == nil {
		m.kindSample().Content(path.Base(m.Name), content, whole)
	}
	m.head = nil
}

// compareElement compares an element of a list in the content.
func (m *Member) compareElement(list string, element []byte) {
	if !m.kind.Guess {
		m.kindSample().Element(list, element)
	}
}
