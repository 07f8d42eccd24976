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
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// PushMessage is the content of a notification.
type PushMessage struct {
	Object       string `json:"object"` // attention
	AttentionID  string `json:"attention_id"`
	ConnectionID string `json:"connection_id"`
	DisplayName  string `json:"display_name"`
	// Happened and Next are the verdict's lines unchanged; Words is the action's text.
	Happened string     `json:"happened,omitempty"`
	Next     string     `json:"next,omitempty"`
	Words    string     `json:"owner_copy"`
	Kind     string     `json:"kind"`
	Urgency  string     `json:"urgency"`
	Link     string     `json:"link"`
	expires  *time.Time // when the message becomes useless
}

// These limits keep a message below the maximum of push services.
const (
	maxName  = 120 // runes
	maxLine  = 160
	maxWords = 120
)

// body returns the text for people: the verdict's lines, or the action's text if they are missing.
func (m PushMessage) body() string {
	if m.Happened == "" && m.Next == "" {
		return m.Words
	}
	return strings.TrimSpace(m.Happened + " " + m.Next)
}

func (s *Sender) message(ctx context.Context, r *attention.AttentionRecord) PushMessage {
	name, link := r.ConnectionID, strings.TrimSuffix(s.Base, "/")+"/sources/"+url.PathEscape(r.ConnectionID)
	// a notification without the name is better than none
	if c, err := s.Store.Connection(ctx, r.ConnectionID); err == nil {
		name = cmp.Or(c.DisplayName, name)
		if c.SourceKind == store.SourceBrowser && r.Kind == string(verdict.Reauth) {
			link += "/page" // where the owner signs in
		}
	}
	m := PushMessage{
		Object: "attention", AttentionID: r.ID, ConnectionID: r.ConnectionID, DisplayName: text.Cut(text.Line(name), maxName),
		Words: text.Cut(text.Line(r.Words), maxWords),
		Kind:  r.Kind, Urgency: r.Urgency, Link: link, expires: r.ExpiresAt,
	}
	if s.Lines != nil {
		// A notification without the verdict's lines is better than none.
		if happened, next, err := s.Lines(ctx, r.ConnectionID); err == nil {
			m.Happened, m.Next = text.Cut(text.Line(happened), maxLine), text.Cut(text.Line(next), maxLine)
		}
	}
	return m
}

func (m PushMessage) json() []byte {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // a struct of strings always encodes
	}
	return b
}

// collapseKey is equal for every notification of one record. It has the 32 characters that a web push topic may have.
func (m PushMessage) collapseKey() string {
	sum := sha256.Sum256([]byte(m.AttentionID))
	return base64.RawURLEncoding.EncodeToString(sum[:24])
}

// lifetime is how long a push service should keep the message for an unreachable device.
func (m PushMessage) lifetime(now time.Time) time.Duration {
	const longest = 24 * time.Hour
	if m.expires == nil {
		return longest
	}
	return max(0, min(longest, m.expires.Sub(now)))
}

// loudness maps the verdict's urgency to the services' priorities. It never decides whether a notification is sent.
func (m PushMessage) loudness() loudness {
	switch verdict.Urgency(m.Urgency) {
	case verdict.Now, verdict.Overdue:
		return highLoudness
	case verdict.Verifying:
		return lowLoudness
	default:
		return plainLoudness
	}
}

type loudness int

const (
	plainLoudness loudness = iota
	highLoudness
	lowLoudness
)
