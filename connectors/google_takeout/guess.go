package googletakeout

import (
	"bufio"
	"bytes"
	"context"
	"io"

	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
)

// guessPrefixBytes is how much of a file is read to recognize it.
const guessPrefixBytes = 64 << 10

// readUnknownFile reads a file with an unknown name: names are of the account's language, and those of
// photos are cut anywhere. Its content determines what it is.
func readUnknownFile(ctx context.Context, m *localarchive.Member) error {
	in, err := m.Open(ctx, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	all := bufio.NewReaderSize(in, guessPrefixBytes)
	head, err := all.Peek(guessPrefixBytes)
	if err != nil && len(head) == 0 && err != io.EOF {
		return err
	}
	has := func(names ...string) bool {
		for _, name := range names {
			if bytes.Contains(head, []byte(`"`+name+`"`)) {
				return true
			}
		}
		return false
	}
	object := bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n"), []byte("{"))
	switch {
	case object && has("photoTakenTime") && has("title"):
		return readPhotoMetadata(m, all)
	case object && has("title") && has("access", "albumData") && has("date", "albumData"):
		m.Skip("Google Photos albums")
		return nil
	case object && (has("timelineObjects", "semanticSegments", "rawSignals") || has("locations") && has("latitudeE7")),
		!object && has("startTime") && has("timelinePath", "visit", "activity"):
		return placesFrom(ctx, m, all)
	case !object && has("header") && has("title") && has("time"):
		return activityFrom(ctx, m, all)
	}
	return localarchive.ErrOtherKind
}
