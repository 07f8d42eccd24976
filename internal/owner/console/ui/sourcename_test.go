package ui

import (
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/view"
)

// A name is an address only if no other source has it.
func TestSourceNames(t *testing.T) {
	of := func(id, name string) view.Connection { return view.Connection{ID: id, DisplayName: name} }
	got := SourceNames([]view.Connection{
		of("cin_1", "Ada's notebook"), of("cin_2", "Ferry  chat / Hafen"), of("cin_3", "Twin"), of("cin_4", "twin!"),
		of("cin_5", "Add"), of("cin_6", "../.."), of("cin_7", "Straße 7"), of("cin_8", strings.Repeat("ä", 500)),
		of("same", "Else"), of("cin_9", "Same"),
	})
	want := map[string]string{"cin_1": "adas-notebook", "cin_2": "ferry-chat-hafen", "cin_7": "straße-7",
		"cin_8": strings.Repeat("ä", longestSourceName), "same": "else"}
	if len(got) != len(want) {
		t.Errorf("named %v", got)
	}
	for id, name := range want {
		if got[id] != name {
			t.Errorf("%s is named %q, want %q", id, got[id], name)
		}
	}
}
