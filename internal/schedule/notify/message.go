package notify

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// Message is everything that a push tells.
type Message struct {
	Object       string `json:"object"` // attention
	AttentionID  string `json:"attention_id"`
	ConnectionID string `json:"connection_id"`
	DisplayName  string `json:"display_name"`
	// Happened and Next are the verdict's lines, word for word; Words are those of the action.
	Happened string     `json:"happened,omitempty"`
	Next     string     `json:"next,omitempty"`
	Words    string     `json:"owner_copy"`
	Kind     string     `json:"kind"`
	Urgency  string     `json:"urgency"`
	Link     string     `json:"link"`
	expires  *time.Time // when it is of no use any more
}

// The bounds keep a message below what a push service takes.
const (
	maxName  = 120 // runes
	maxLine  = 160
	maxWords = 120
)

// said is what a person reads: what happened and what next, or what is asked of them where the
// verdict could not be had.
func (m Message) said() string {
	if m.Happened == "" && m.Next == "" {
		return m.Words
	}
	return strings.TrimSpace(m.Happened + " " + m.Next)
}

func (s *Sender) message(ctx context.Context, r *attention.Record) Message {
	name, link := r.ConnectionID, strings.TrimSuffix(s.Base, "/")+"/connections/"+url.PathEscape(r.ConnectionID)
	if c, err := s.Store.Connection(ctx, r.ConnectionID); err == nil { // a push without the name is better than none
		name = cmp.Or(c.DisplayName, name)
		if c.SourceKind == store.SourceBrowser && r.Kind == string(verdict.Reauth) {
			link += "/page" // where the owner signs in
		}
	}
	m := Message{
		Object: "attention", AttentionID: r.ID, ConnectionID: r.ConnectionID, DisplayName: text.Cut(text.Line(name), maxName), Words: text.Cut(text.Line(r.Words), maxWords),
		Kind: r.Kind, Urgency: r.Urgency, Link: link, expires: r.ExpiresAt,
	}
	if s.Lines != nil {
		if happened, next, err := s.Lines(ctx, r.ConnectionID); err == nil { // a push with the action alone is better than none
			m.Happened, m.Next = text.Cut(text.Line(happened), maxLine), text.Cut(text.Line(next), maxLine)
		}
	}
	return m
}

func (m Message) json() []byte {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // a struct of strings always encodes
	}
	return b
}

// collapse is the same for every push of one record, in the 32 letters that a
// web push topic may have.
func (m Message) collapse() string {
	sum := sha256.Sum256([]byte(m.AttentionID))
	return base64.RawURLEncoding.EncodeToString(sum[:24])
}

// lifetime is how long a push service should keep the message for a device that
// is away.
func (m Message) lifetime(now time.Time) time.Duration {
	const longest = 24 * time.Hour
	if m.expires == nil {
		return longest
	}
	return max(0, min(longest, m.expires.Sub(now)))
}

// loudness translates the verdict's urgency for the services. It changes how a
// push sounds, never whether it is sent.
func (m Message) loudness() loudness {
	switch verdict.Urgency(m.Urgency) {
	case verdict.Now, verdict.Overdue:
		return loud
	case verdict.Verifying:
		return soft
	default:
		return plain
	}
}

type loudness int

const (
	plain loudness = iota
	loud
	soft
)
