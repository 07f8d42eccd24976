package runner

import (
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/pdpp-go/pdpp/protocol"
)

// mostOtherKeys bounds the keys of one stream that are watched for a second item.
const mostOtherKeys = 10_000

// otherKeys counts records of one stream with a key other than the value of their primary key.
type otherKeys struct {
	seen   map[string]uint64 // by key, the digest of the primary key's value
	kept   int64
	shared int64 // items that were rejected because their key is that of another item
}

var otherKeySeed = maphash.MakeSeed()

// keepKey counts a record that is stored under a key other than the value of its primary key. It rejects a
// second item under the same key, which would replace the first.
func (st *stream) keepKey(m *protocol.Record) *protocol.Violation {
	value, other := st.OtherKey(m)
	if !other {
		return nil
	}
	o, digest := &st.otherKeys, maphash.String(otherKeySeed, value)
	before, used := o.seen[m.Key]
	switch {
	case used && before != digest:
		o.shared++
		return &protocol.Violation{Subtype: protocol.KeyMismatch, MessageType: protocol.TypeRecord, Stream: st.name,
			Received: "the key of another item", Expected: []string{"a key for each value of " + st.primaryKey()}}
	case !used && len(o.seen) < mostOtherKeys:
		if o.seen == nil {
			o.seen = map[string]uint64{}
		}
		o.seen[m.Key] = digest
	}
	o.kept++
	return nil
}

func (st *stream) primaryKey() string { return strings.Join(st.Decl.PrimaryKey, ", ") }

// noteOtherKeys writes to the run's timeline how many records have keys that their manifest does not promise.
func (s *session) noteOtherKeys() {
	for _, st := range s.order {
		if n := st.otherKeys.kept; n > 0 {
			text := fmt.Sprintf("%d items are stored under the key that the connector sent. "+
				"Its manifest promises the value of %s as the key.", n, st.primaryKey())
			s.note("run.progress_reported", st.name, map[string]any{"message": text})
		}
	}
}
