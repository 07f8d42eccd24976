package slack

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// operations are the mutations that the control port knows. What they change lies within the last days.
var operations = map[string]func(s *Slack) string{
	"say":   func(s *Slack) string { return s.say(s.channel(), s.now(), nil).ts },
	"reply": func(s *Slack) string { c, m := s.recent(nil); return s.say(c, s.now(), m).ts },
	// Somebody replies to a message that is older than two weeks; its place in the history stays.
	"reply_old": func(s *Slack) string {
		at := s.among("reply_old")
		one := at[s.choice.IntN(len(at))]
		return s.say(one.in, s.now(), one.message).ts
	},
	"expire":   func(s *Slack) string { s.expire++; return "" },
	"nameless": func(s *Slack) string { s.nameless = true; return "" },
	"named":    func(s *Slack) string { s.nameless = false; return "" },
	"react": func(s *Slack) string {
		return s.change(func(m *message) {
			m.data["reactions"] = []object{{"name": "eyes", "users": []string{"U0002"}, "count": 1}}
		})
	},
	"edit": func(s *Slack) string {
		return s.change(func(m *message) {
			m.data["text"] = m.data["text"].(string) + " edited"
			m.data["edited"] = object{"user": self, "ts": s.stamp(s.now())}
		})
	},
	"delete": func(s *Slack) string { return s.change(func(m *message) { m.gone = true }) },
	// The newest message of a channel: nothing above it shows that it is missing.
	"delete_newest": func(s *Slack) string {
		at := s.among("delete_newest")
		newest := slices.MaxFunc(at, func(x, y placed) int { return strings.Compare(x.ts, y.ts) })
		newest.gone = true
		return newest.ts
	},
	"delete_reply": func(s *Slack) string {
		_, m := s.recent(func(m *message) bool { return len(m.living()) > 0 })
		r := m.living()[0]
		r.gone = true
		return r.ts
	},
	"delete_thread": func(s *Slack) string { // all replies of one message
		_, m := s.recent(func(m *message) bool { return len(m.living()) > 0 })
		for _, r := range m.replies {
			r.gone = true
		}
		return m.ts
	},
	"upload": func(s *Slack) string { return s.upload().data["id"].(string) },
	"delete_file": func(s *Slack) string {
		i := slices.IndexFunc(s.files, func(f *file) bool { return !f.gone })
		s.files[i].gone = true
		return ""
	},
	"rename": func(s *Slack) string {
		c := s.channel()
		c.data["topic"] = object{"value": "another topic"}
		return c.id
	},
	"leave":  func(s *Slack) string { c := s.channel(); c.left = true; return c.id },
	"narrow": func(s *Slack) string { s.narrow = true; return "" },
	"seal":   func(s *Slack) string { s.sealed = true; return "" },
	"unseal": func(s *Slack) string { s.sealed = false; return "" },
}

// needs are the messages of which an operation needs one. An operation without a row needs none.
var needs = map[string]func(s *Slack, m *message) bool{
	"reply": (*Slack).isRecent, "react": (*Slack).isRecent, "edit": (*Slack).isRecent, "delete": (*Slack).isRecent,
	"delete_newest": (*Slack).isRecent,
	"delete_reply":  func(s *Slack, m *message) bool { return s.isRecent(m) && len(m.living()) > 0 },
	"delete_thread": func(s *Slack, m *message) bool { return s.isRecent(m) && len(m.living()) > 0 },
	"reply_old":     func(s *Slack, m *message) bool { return m.ts < s.daysAgo(14) },
}

func (s *Slack) daysAgo(days int) string {
	return fmt.Sprintf("%010d", s.cfg.Now().AddDate(0, 0, -days).Unix())
}

func (s *Slack) isRecent(m *message) bool { return m.ts > s.daysAgo(6) }

// placed is a message and its channel.
type placed struct {
	in *channel
	*message
}

// among lists the messages that an operation can choose from, in the channels that the person reads.
func (s *Slack) among(op string) []placed {
	var out []placed
	for _, c := range s.channels {
		for _, m := range c.messages {
			if c.read() && !c.left && !m.gone && needs[op](s, m) {
				out = append(out, placed{c, m})
			}
		}
	}
	return out
}

// now is a moment that no other message has.
func (s *Slack) now() time.Time {
	if now := s.cfg.Now(); now.After(s.lastTS) {
		s.lastTS = now
	}
	return s.lastTS
}

// channel is one of those that the person reads.
func (s *Slack) channel() *channel {
	var pool []*channel
	for _, c := range s.channels {
		if c.read() && !c.left {
			pool = append(pool, c)
		}
	}
	return pool[s.choice.IntN(len(pool))]
}

// recent is a message of the last days.
func (s *Slack) recent(eligible func(*message) bool) (*channel, *message) {
	for { // it ends: the operation was refused if there is none
		c := s.channel()
		var pool []*message
		for _, m := range c.messages {
			if s.isRecent(m) && !m.gone && (eligible == nil || eligible(m)) {
				pool = append(pool, m)
			}
		}
		if len(pool) > 0 {
			return c, pool[s.choice.IntN(len(pool))]
		}
	}
}

func (s *Slack) change(edit func(*message)) string {
	_, m := s.recent(nil)
	edit(m)
	return m.ts
}

// Mutate runs an operation N times.
func (s *Slack) Mutate(m providersim.Mutation) (providersim.Mutated, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	operate, known := operations[m.Op]
	if !known || m.N < 1 || m.N > 10_000 {
		return providersim.Mutated{}, fmt.Errorf("mutation %q of %d is not known", m.Op, m.N)
	}
	out := providersim.Mutated{Op: m.Op, Now: s.cfg.Now()}
	for range m.N {
		if needs[m.Op] != nil && len(s.among(m.Op)) == 0 {
			return out, fmt.Errorf("mutation %q: no message is of an age or form that it needs", m.Op)
		}
		out.IDs = append(out.IDs, operate(s))
	}
	return out, nil
}
