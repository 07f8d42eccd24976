// Package rowsum counts and hashes rows of a database, so that two databases of different kinds can be compared. The
// order of the rows does not matter.
package rowsum

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/bits"
)

// Sum is the number of rows and a hash of all of them. The zero value is that of no rows. It is not safe for
// concurrent use.
type Sum struct {
	Rows int64
	hash [4]uint64
	text []byte
}

// Add adds a row. Its values are nil, int64, float64, string or []byte.
func (s *Sum) Add(row []any) error {
	text := s.text[:0]
	for _, value := range row {
		switch v := value.(type) {
		case nil:
			text = append(text, 'n')
		case int64:
			text = binary.BigEndian.AppendUint64(append(text, 'i'), uint64(v))
		case float64:
			text = binary.BigEndian.AppendUint64(append(text, 'f'), math.Float64bits(v))
		case string:
			text = append(binary.BigEndian.AppendUint64(append(text, 's'), uint64(len(v))), v...)
		case []byte:
			text = append(binary.BigEndian.AppendUint64(append(text, 'b'), uint64(len(v))), v...)
		default:
			return fmt.Errorf("a value of type %T cannot be hashed", value)
		}
	}
	s.text = text
	one := sha256.Sum256(text)
	carry := uint64(0)
	for i := range s.hash { // the sum of all hashes does not depend on the order
		s.hash[i], carry = bits.Add64(s.hash[i], binary.LittleEndian.Uint64(one[8*i:]), carry)
	}
	s.Rows++
	return nil
}

// Hash returns the hash in hexadecimal digits.
func (s *Sum) Hash() string {
	var out []byte
	for _, word := range s.hash {
		out = binary.LittleEndian.AppendUint64(out, word)
	}
	return hex.EncodeToString(out)
}
