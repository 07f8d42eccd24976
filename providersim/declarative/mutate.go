package declarative

import (
	"fmt"
	"strings"

	"github.com/pdpp-go/pdpp/providersim"
)

// Mutate adds, changes or deletes rows of a stream: add_ID, change_ID or delete_ID with the stream's name in the
// manifest.
func (p *Provider) Mutate(m providersim.Mutation) (providersim.Mutated, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	op, id, _ := strings.Cut(m.Op, "_")
	e := p.endpointOf(id)
	if e == nil || len(e.partitions) == 0 {
		return providersim.Mutated{}, fmt.Errorf("%q is not add_, change_ or delete_ with the name of a stream", m.Op)
	}
	part := e.partitions[0]
	out := providersim.Mutated{Op: m.Op, Now: p.now}
	for i := range max(1, m.N) {
		switch {
		case op == "add":
			part.rows = append(part.rows, e.newRow(e.to))
		case len(part.rows) == 0:
		case op == "delete":
			part.rows = part.rows[1:]
		case op == "change":
			e.changeRow(part.rows[i%len(part.rows)])
		}
	}
	return out, nil
}

// changeRow replaces one text of an item. Keys and times stay.
func (e *endpoint) changeRow(r *row) {
	for list, raw := range r.items {
		needs := e.needsOf(strings.Split(list, "\x00"))
		item, err := decode(raw)
		if err != nil {
			continue
		}
		for name, v := range item {
			text, ok := v.(string)
			isKey := false
			for _, key := range needs.unique {
				isKey = isKey || key[0] == name
			}
			if _, isTime := needs.times[name]; ok && !isKey && !isTime && !needs.read[name] && !timeName.MatchString(name) {
				item[name] = text + " changed"
				break
			}
		}
		r.items[list] = encode(item)
	}
}

func (p *Provider) endpointOf(id string) *endpoint {
	for _, e := range p.endpoints {
		for _, r := range e.readers {
			if r.described != nil && r.described.ID == id {
				return e
			}
		}
	}
	return nil
}

// ChangeToken is not simulated: the credentials are settings of the document.
func (p *Provider) ChangeToken(providersim.TokenChange) (providersim.TokenStatus, error) {
	return providersim.TokenStatus{}, fmt.Errorf("the credentials of a generated provider do not change")
}
