package imap

import (
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/protocol"
)

// maxNames bounds the names that are kept of one answer.
const maxNames = 64

// saw notes the name of a response, or of a part of it: "EXISTS", "OK/UIDNEXT", "FETCH/FLAGS".
func (a *answer) saw(name string) {
	if len(a.names) < maxNames && !slices.Contains(a.names, name) {
		a.names = append(a.names, name)
	}
}

// sawItem notes the name of an item of the first message in an answer.
func (a *answer) sawItem(name string) {
	name, _, _ = strings.Cut(name, "[")
	a.saw("FETCH/" + name)
}

// announce compares how many messages the server announces of a folder with how many are there. The number of EXISTS is
// that of the moment at which the folder was opened; that of STATUS counts if the folder has not changed since.
func (w *walk) announce(in *folder, opened *answer, there uids) {
	announced := opened.exists
	if in.status.modseq > 0 && in.status.modseq == opened.modseq {
		announced = max(announced, in.status.messages)
	}
	w.f.Listed(w.stream, protocol.AnnouncedTotal{Announced: announced, Counted: there.count()})
}
