package people

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/pdpp-go/pdpp/internal/owner/person"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// trace is one way in which a stream names an author.
type trace struct {
	person.Trace
	connection, connectionName string
	name, address              string // as the source shows them
	months                     []person.Month
	shared                     string // equal for equal addresses in all sources; empty where only this source knows it
	identity                   string // the id of its identity
}

func (t *trace) add(c store.Correspondence) {
	t.Records += c.Records
	if c.Month == "" {
		return
	}
	t.months = append(t.months, person.Month{Month: c.Month, Records: c.Records})
	t.First, t.Last = earlier(t.First, moment(c.First)), later(t.Last, moment(c.Last))
}

func moment(semanticTime string) *time.Time {
	at, err := time.Parse(time.RFC3339, semanticTime)
	if err != nil {
		return nil
	}
	return &at
}

func earlier(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.Before(*a) {
		return b
	}
	return a
}

func later(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.After(*a) {
		return b
	}
	return a
}

// identify sets the identity: an author with an address is known by it, everywhere; another one by the name that the
// source uses, and only there.
func (t *trace) identify() {
	if t.shared = sharedAddress(t.address); t.shared == "" {
		t.shared = sharedAddress(t.Author)
	}
	known := t.shared
	if known == "" {
		known = "in this source: " + t.Author + "\x00" + t.address
	}
	digest := sha256.Sum256([]byte(t.connection + "\x00" + known))
	t.identity = "per_" + hex.EncodeToString(digest[:10])
	if t.name == "" {
		t.name = t.address
	}
}

// leastDigits is how many digits a telephone number has at least.
const leastDigits = 7

// sharedAddress returns the form of a mail address, a name with its server or a telephone number that is equal wherever
// it is used; empty for a text that is none of them.
func sharedAddress(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	if local, host, found := strings.Cut(strings.TrimPrefix(text, "@"), "@"); found && local != "" &&
		strings.Contains(host, ".") && !strings.ContainsFunc(text, unicode.IsSpace) {
		return text
	}
	if local, host, found := strings.Cut(text, ":"); found && strings.HasPrefix(local, "@") &&
		strings.Contains(host, ".") {
		return text
	}
	digits := strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -()./\u00a0\u2011", r) {
			return -1
		}
		return r
	}, text)
	if rest, found := strings.CutPrefix(digits, "00"); found {
		digits = "+" + rest
	}
	if plain := strings.TrimPrefix(digits, "+"); len(plain) >= leastDigits &&
		!strings.ContainsFunc(plain, func(r rune) bool { return r < '0' || r > '9' }) {
		return digits
	}
	return ""
}

// automaticNames begin the local part of addresses that only programs write from.
var automaticNames = []string{"noreply", "no-reply", "no_reply", "donotreply", "do-not-reply", "do_not_reply",
	"notification", "notifications", "notify", "mailer-daemon", "postmaster", "newsletter", "news", "bounce", "bounces",
	"alerts", "automated", "updates"}

// isAutomatic reports whether only programs write from an address.
func isAutomatic(address string) bool {
	local, _, found := strings.Cut(strings.ToLower(address), "@")
	if !found {
		return false
	}
	return slices.ContainsFunc(automaticNames, func(name string) bool {
		rest, begins := strings.CutPrefix(local, name)
		return begins && (rest == "" || strings.ContainsAny(rest[:1], "+-_."))
	})
}

// fieldText returns the text in a field of a record.
func fieldText(data []byte, field string) string {
	var values map[string]json.RawMessage
	var text string
	if field == "" || json.Unmarshal(data, &values) != nil || json.Unmarshal(values[field], &text) != nil {
		return ""
	}
	return strings.TrimSpace(text)
}
