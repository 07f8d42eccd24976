package grants

import (
	"slices"

	"github.com/pdpp-go/pdpp/manifest"
)

// Default limits of an expansion.
const (
	usualRelated = 10
	mostRelated  = 100
)

// Relation is how records of a view's stream belong to those of another, of the same
// connection, as readers may have them beside a record.
type Relation struct {
	Name, Stream string
	// Field holds the key of the other record, or, when it is the Other's, the key of this
	// one.
	Field string
	Other bool
	Many  bool
	// Usual is the default number of records, and Most the maximum.
	Usual, Most int
}

// Relations are those that the connector lets readers follow.
func (v StreamView) Relations() (all []Relation) {
	if v.declared.Query == nil {
		return nil
	}
	for _, e := range v.declared.Query.Expand {
		i := slices.IndexFunc(v.declared.Relationships, func(r manifest.Relationship) bool { return r.Name == e.Name })
		if i < 0 {
			continue
		}
		if r, ok := v.relation(v.declared.Relationships[i], e); ok {
			all = append(all, r)
		}
	}
	return all
}

// relation reads a declaration. Many records hold the key of the one that they belong to;
// one is named by a field of the record itself, or else holds its key.
func (v StreamView) relation(d manifest.Relationship, e manifest.Expansion) (Relation, bool) {
	other, ok := v.siblings[d.Stream]
	r := Relation{Name: d.Name, Stream: d.Stream, Field: d.ForeignKey, Many: d.Cardinality == manifest.HasMany, Usual: 1,
		Most: 1}
	r.Other = d.InOther(&v.declared.Stream)
	named := other.PrimaryKey
	if r.Other {
		named = v.declared.PrimaryKey
	}
	if !ok || len(named) != 1 || r.Other && !slices.Contains(other.fields, r.Field) {
		return r, false
	}
	if r.Many {
		r.Most = mostRelated
		if e.MaxLimit > 0 {
			r.Most = min(e.MaxLimit, mostRelated)
		}
		if r.Usual = usualRelated; e.DefaultLimit > 0 {
			r.Usual = e.DefaultLimit
		}
		r.Usual = min(r.Usual, r.Most)
	}
	return r, true
}

// Follows reports whether a relation to another view can be followed without revealing an ungranted field: the
// relation itself reveals the field's value.
func (v StreamView) Follows(r Relation, other StreamView) bool {
	if r.Other {
		return other.Shows(r.Field)
	}
	return v.Shows(r.Field)
}
