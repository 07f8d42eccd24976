package connectorkit

import (
	"reflect"
	"strings"
)

// suspicion is a byte that stands in some of what mask looks for, with what these are up to it, by the
// byte before it. A text that has none of that holds none of them.
type suspicion struct {
	anchor byte
	heads  [256][]string
}

// suspicions are looked for one after another, because a search for a single byte is many times as
// quick as a look at each. Addresses have none, and are looked for as such.
var suspicions = newSuspicions()

// anchors are the bytes to tell secrets by, those first that are to be preferred.
const anchors = "-_JGZz9KSx"

func newSuspicions() (all []suspicion) {
	for i := range len(anchors) {
		all = append(all, suspicion{anchor: anchors[i]})
	}
	texts := []string{webTokenBegin, keyBegin, authorizationRest, strings.ToUpper(authorizationRest), "uthorIzation", "uthoriZation"}
	for _, s := range shapes {
		texts = append(texts, s.prefix)
	}
	for _, text := range texts {
		told := false
		for i := 0; i < len(all) && !told; i++ {
			for at := 1; at < len(text) && !told; at++ {
				if told = text[at] == all[i].anchor && text[at-1] != all[i].anchor; told {
					heads := &all[i].heads[text[at-1]]
					*heads = append(*heads, text[:at+1])
				}
			}
		}
		if !told {
			panic("nothing tells " + text)
		}
	}
	return all
}

// shortestSecret is the length below which no text holds a secret with what tells it.
const shortestSecret = len("a://:b@")

// In a text with more anchors than some and one of so many bytes, to look for them is not the
// quicker way.
const some, many = 24, 12

// suspect reports whether a text may hold what mask replaces. It may be wrong about one that does
// not.
func suspect(text string) bool {
	if len(text) < shortestSecret {
		return false
	}
	left := some + len(text)/many
	for i := range suspicions {
		s := &suspicions[i]
		for at := 0; ; left-- {
			n := strings.IndexByte(text[at:], s.anchor)
			if n < 0 {
				break
			}
			if at += n + 1; at > 1 && endsIn(text[:at], s.heads[text[at-2]]) || left < 0 {
				return true
			}
		}
	}
	return strings.Contains(text, addressMark)
}

// endsIn reports whether a text ends like one of the list, in small letters or capitals.
func endsIn(text string, list []string) bool {
	for _, end := range list {
		if n := len(text) - len(end); n >= 0 && strings.EqualFold(text[n:], end) {
			return true
		}
	}
	return false
}

// suspectIn reports whether a text of a record may hold what mask replaces in its JSON. Escapes make
// nothing of what mask looks for that was not there before.
func (q *quickRecord) suspectIn(v reflect.Value) bool {
	if q.suspect {
		return true
	}
	for i := range q.members {
		if m := &q.members[i]; m.kind == reflect.String && suspect(v.Field(m.index).String()) {
			return true
		}
	}
	return false
}
