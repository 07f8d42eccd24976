package imap

import (
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/protocol"
)

// maxResponseNames bounds the stored names of one answer.
const maxResponseNames = 64

// noteResponseName notes the name of a response, or of a part of it: "EXISTS", "OK/UIDNEXT", "FETCH/FLAGS".
func (a *serverAnswer) noteResponseName(name string) {
	if len(a.names) < maxResponseNames && !slices.Contains(a.names, name) {
		a.names = append(a.names, name)
	}
}

// noteItemName notes the name of an item of the first message in an answer.
func (a *serverAnswer) noteItemName(name string) {
	name, _, _ = strings.Cut(name, "[")
	a.noteResponseName("FETCH/" + name)
}

// compareMessageCount compares how many messages the server announces of a folder with how many are there. The number
// of EXISTS is that of the moment at which the folder was opened; that of STATUS counts if the folder has not changed
// since.
func (w *messageWalk) compareMessageCount(in *mailFolder, opened *serverAnswer, there uidSet) {
	announced := opened.exists
	if in.status.modseq > 0 && in.status.modseq == opened.modseq {
		announced = max(announced, in.status.messages)
	}
	w.f.Listed(w.stream, protocol.AnnouncedTotal{Announced: announced, Counted: there.countUIDs()})
}
