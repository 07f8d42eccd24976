package mail

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

var maildirFlags = map[rune]string{'S': "seen", 'R': "replied", 'F': "flagged", 'T': "trashed", 'D': "draft",
	'P': "passed"}

// readMaildir reads one message. Its content never changes; its file name holds its folder and its flags.
func readMaildir(f *localfile.File, h *os.File, state jsontext.Value, how messageOptions) error {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", f.Rel, f.Size))
	form := hex.EncodeToString(sum[:8])
	if string(state) == strconv.Quote(form) {
		return nil // it was sent so
	}
	m := how.newMessage(f)
	if err := m.Read(bufio.NewReaderSize(io.LimitReader(h, f.Size), readBuffer)); err != nil {
		return err
	}
	m.ID = "maildir/" + f.ID
	m.Folder = maildirFolder(f.Rel)
	_, flags := cutMaildirFlags(path.Base(f.Rel))
	for _, c := range flags {
		if name := maildirFlags[c]; name != "" && !slices.Contains(m.Flags, name) {
			m.Flags = append(m.Flags, name)
		}
	}
	slices.Sort(m.Flags)
	f.Read(f.Size)
	emitMessage(f, m)
	f.SetState(form)
	return nil
}

// maildirFolder returns the folder of a message, without cur and new, with slashes instead of dots.
func maildirFolder(rel string) string {
	dir := path.Dir(path.Dir(rel))
	if dir == "." {
		return "INBOX"
	}
	parts := strings.Split(dir, "/")
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(strings.TrimPrefix(part, "."), ".", "/")
	}
	return strings.ToValidUTF8(strings.Join(parts, "/"), "\uFFFD")
}
