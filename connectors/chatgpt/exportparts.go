package chatgpt

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// newAllowance is how much a zip file of that size may unpack to.
func newAllowance(packed int64) *int64 {
	left := min(maxExportBytes, max(ratioCheckMinimum, packed*maxCompressionRatio))
	return &left
}

// boundedReader ends what unpacks to too much.
type boundedReader struct {
	r    io.Reader
	left *int64 // of the whole file
}

func (b *boundedReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if *b.left -= int64(n); *b.left < 0 {
		return 0, errCompressionBomb
	}
	return n, err
}

// eachArrayElement calls each for every element of a JSON array, with its offset.
func eachArrayElement(r io.Reader, each func(raw jsontext.Value, offset int64) error) error {
	limit := &elementReader{r: r}
	dec := jsontext.NewDecoder(limit, lenientDecoding)
	open, err := dec.ReadToken()
	if err != nil {
		return fmt.Errorf("read list: %w", err)
	}
	if open.Kind() != '[' {
		return errNotArray
	}
	for dec.PeekKind() != ']' {
		limit.read = 0
		raw, err := dec.ReadValue()
		if err != nil {
			return fmt.Errorf("read list: %w", err)
		}
		if err := each(raw, dec.InputOffset()-int64(len(raw))); err != nil {
			return err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return fmt.Errorf("read list: %w", err)
	}
	return nil
}

// elementReader ends an element that is too large.
type elementReader struct {
	r    io.Reader
	read int
}

func (l *elementReader) Read(p []byte) (int, error) {
	if l.read > maxConversation {
		return 0, errConversationTooLarge
	}
	n, err := l.r.Read(p)
	l.read += n
	return n, err
}

// conversationFileName is a file of conversations in either layout.
var conversationFileName = regexp.MustCompile(`^conversations(-\d+)?\.json$`)

const sharesName = "shared_conversations.json"

// findZipFiles are the zip files of a folder and of the folders in it, the newest first: what an older
// one has as new is not copied.
func findZipFiles(in fs.FS) ([]string, error) {
	var names []string
	for _, pattern := range []string{"*.[zZ][iI][pP]", "*/*.[zZ][iI][pP]"} {
		some, err := fs.Glob(in, pattern)
		if err != nil {
			return nil, err
		}
		names = append(names, some...)
	}
	changed := map[string]int64{}
	for _, name := range names {
		if info, err := fs.Stat(in, name); err == nil {
			changed[name] = info.ModTime().UnixNano()
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(changed[b], changed[a]) })
	return names, nil
}
