package status

import (
	"bytes"
	"context"
	"fmt"
	"hash/maphash"
	"io"
	"strings"

	"github.com/a-h/templ"
)

// part is a piece of a page that can be updated separately: one element with an id.
type part struct {
	id   string
	html []byte
	// key is a hash that identifies the content.
	key uint64
	// inside names the part that holds this one. A part that holds others changes
	// only with their order and number; their content changes with them.
	inside string
}

// pieces are the parts of one page at one moment.
type pieces []part

// keySeed differs per process, so a page rendered by an earlier process receives all parts again.
var keySeed = maphash.MakeSeed()

// usualPart is about the size of a row, so that making one takes its memory once.
const usualPart = 1 << 10

// made is HTML that was rendered before.
type made []byte

// Render writes it as it is.
func (m made) Render(_ context.Context, w io.Writer) error {
	_, err := w.Write(m)
	return err
}

// render makes a part. Its component must be one element with the id.
func render(ctx context.Context, id string, c templ.Component) (part, error) {
	var b bytes.Buffer
	b.Grow(usualPart)
	if err := c.Render(ctx, &b); err != nil {
		return part{}, fmt.Errorf("render %s: %w", id, err)
	}
	return part{id: id, html: b.Bytes(), key: maphash.Bytes(keySeed, b.Bytes())}, nil
}

// component is what a part is made from.
type component struct {
	id      string
	content templ.Component
}

// renderAll makes the parts of a page in their order.
func renderAll(ctx context.Context, all []component) (pieces, error) {
	made := make(pieces, len(all))
	for i, c := range all {
		var err error
		if made[i], err = render(ctx, c.id, c.content); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// holding renders a part and derives its key from the order of the parts inside it.
func holding(ctx context.Context, id, shape string, c templ.Component) (part, error) {
	p, err := render(ctx, id, c)
	p.key = maphash.String(keySeed, shape)
	return p, err
}

// at returns a part as a component, for assembling a page.
func (all pieces) at(id string) templ.Component {
	for i := range all {
		if all[i].id == id {
			return made(all[i].html)
		}
	}
	return templ.NopComponent
}

// digest returns a hash of the whole page. Pages with the same digest have the same content.
func (all pieces) digest() string {
	var h maphash.Hash
	h.SetSeed(keySeed)
	for i := range all {
		maphash.WriteComparable(&h, all[i].key)
	}
	return fmt.Sprintf("%x", h.Sum64())
}

// changed returns the smallest set of parts that differ from the keys in before.
func (all pieces) changed(before map[string]uint64) pieces {
	var out pieces
	whole := map[string]bool{}
	for _, p := range all {
		key, known := before[p.id]
		if known && key == p.key || whole[p.inside] {
			continue
		}
		whole[p.id] = true
		out = append(out, p)
	}
	return out
}

// outermost leaves out the parts that come with the one that holds them.
func (all pieces) outermost() pieces { return all.changed(nil) }

func (all pieces) keys() map[string]uint64 {
	keys := make(map[string]uint64, len(all))
	for i := range all {
		keys[all[i].id] = all[i].key
	}
	return keys
}

// eventOf writes an event as it goes over the wire. A line break within the text, of
// whatever kind, begins another line of the same event and can begin no new one.
func eventOf(name string, text string) []byte {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	var b bytes.Buffer
	b.WriteString("event: " + name + "\n")
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString("data: " + line + "\n")
	}
	b.WriteByte('\n')
	return b.Bytes()
}
