package things

import (
	"cmp"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/records"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/manifest"
)

// ThreadKey names a conversation: by the stream of conversations, or by that of its messages
// where conversations have no records of their own.
type ThreadKey struct{ Connection, Stream, Thread string }

// ThreadOf is the conversation that a record belongs to.
func ThreadOf(t *Thing) (ThreadKey, bool) {
	value := t.Text("thread")
	if value == "" {
		return ThreadKey{}, false
	}
	return ThreadKey{t.ConnectionID, cmp.Or(t.In.Display.Related["thread"], t.Stream), value}, true
}

// SpeakersOf returns the streams with records that belong to the conversation with the key.
func (all *Streams) SpeakersOf(k ThreadKey) (out []*Stream) {
	for i := range all.All {
		s := &all.All[i]
		if s.ConnectionID == k.Connection && s.Role("thread") != "" && s.Role("time") != "" &&
			cmp.Or(s.Display.Related["thread"], s.Name) == k.Stream {
			out = append(out, s)
		}
	}
	return out
}

// The kinds of conversations.
const (
	WithPeople     = "people"
	WithAssistants = "assistants"
	AboutCode      = "code"
)

// ConversationKind returns who the conversations of a stream are with. One with a program that belongs to a project is
// about code.
func (all *Streams) ConversationKind(s *Stream) string {
	for _, by := range all.SpeakersOf(ThreadKey{Connection: s.ConnectionID, Stream: s.Name}) {
		switch {
		case by.Role("speaker") == "":
		case s.Role("project") != "":
			return AboutCode
		default:
			return WithAssistants
		}
	}
	return WithPeople
}

// ExportThreads returns the export of all conversations of streams, with their messages.
func (all *Streams) ExportThreads(of []*Stream) records.ExportList {
	var with []*Stream
	for _, s := range of {
		with = append(with, s)
		for _, speaker := range all.SpeakersOf(ThreadKey{Connection: s.ConnectionID, Stream: s.Name}) {
			if speaker != s {
				with = append(with, speaker)
			}
		}
	}
	list := Export(with, api.ExportQuery{})
	list.Legend = "Export these conversations with their messages"
	return list
}

// Address is where the conversation is read.
func (k ThreadKey) Address() string {
	return "/conversations/" + ui.Segment(k.Connection) + "/" + ui.Segment(k.Stream) + "/" + ui.Segment(k.Thread)
}

// Voice is who speaks.
type Voice int

// The voices of a conversation.
const (
	VoiceOther Voice = iota // another person, or the program in a dialogue
	VoiceOwner
	VoiceStep // neither: what a program did
)

// VoiceOf returns who speaks in a record.
func VoiceOf(t *Thing) Voice {
	switch {
	case t.In.Kind() != manifest.KindMessage:
		return VoiceStep
	case t.In.Role("speaker") != "":
		switch strings.ToLower(t.Text("speaker")) {
		case "user", "person", "human":
			return VoiceOwner
		case "assistant", "model":
			return VoiceOther
		}
		return VoiceStep
	case t.Text("mine") == "true":
		return VoiceOwner
	}
	return VoiceOther
}
