package ui

import (
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/view"
)

// Frame is what surrounds a page.
type Frame struct {
	Title string
	// Active is the entry of the menu that the page belongs to, by its name: the first part of
	// its address, and "today" for the first page.
	Active string
	// Sought is what the search field shows.
	Sought string
	// Watched reports whether Indicator was read for this page, so that nil means healthy.
	// Otherwise the page shows nothing about the runtime.
	Watched   bool
	Indicator *view.RuntimeIndicator
	Now       time.Time
	// Flash is what came of the owner's last action.
	Flash *Message
	// Live is the address of the page's events; empty means that it has none.
	Live string
}

// Message is a notice for the owner. Kind is ok, bad or note.
type Message struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
	Next string `json:"next,omitempty"`
	// Link is an address of this console, with its words.
	Link, LinkText string `json:",omitempty"`
	// Anyway is the address that starts a run although the source should not be contacted yet. It
	// applies to this response only and is stored in no cookie.
	Anyway string `json:"-"`
}

// Good returns a message that confirms an action.
func Good(text string) Message { return Message{Kind: "ok", Text: text} }

// Route is one address of the console. Patterns are those of http.ServeMux.
type Route struct {
	Pattern string
	Handler http.Handler
	// Confirm requires that the owner has recently confirmed their identity.
	Confirm bool
}

// NeedsOwner reports whether the verdict calls for its owner.
func NeedsOwner(v *verdict.Verdict) bool { return v.Channel == verdict.Attention }

// tone is the class of a message of the kind.
func (m Message) tone() string {
	switch m.Kind {
	case "ok":
		return "green"
	case "bad":
		return "red"
	case "warn":
		return "amber"
	default:
		return "grey"
	}
}

// role makes screen readers speak a failure at once, and the rest when there is time.
func (m Message) role() string {
	if m.Kind == "bad" {
		return "alert"
	}
	return "status"
}
