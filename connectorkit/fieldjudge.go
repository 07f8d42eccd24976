package connectorkit

import (
	stdjson "encoding/json"
	"reflect"
	"slices"
	"strconv"
)

// fieldValidator is a quickSchema for records of one struct type, with access to the fields. It looks up each field's
// schema once.
type fieldValidator struct {
	record *quickRecord
	fields []validatedField // as in record
	least  uint64           // bits of the required members
	never  bool             // no such record is valid
}

type validatedField struct {
	schema *quickSchema
	bit    uint64
	closed bool // the schema does not allow the member
	wanted bool // it goes into the tree
}

// fieldJudge returns a validator that keeps the named members.
func (q *quickSchema) fieldJudge(r *quickRecord, names []string) *fieldValidator {
	j := &fieldValidator{record: r, least: q.required, never: !q.takes(kindObject)}
	for i := range r.members {
		name := r.members[i].name
		f := validatedField{schema: q.others, wanted: slices.Contains(names, name)}
		if known := q.members[name]; known != nil {
			f.schema, f.bit = known.schema, known.bit
		} else {
			f.closed = q.closed
		}
		j.fields = append(j.fields, f)
	}
	return j
}

// judge validates like quickSchema. It puts the wanted members into tree.
func (j *fieldValidator) judge(v reflect.Value, tree map[string]any) bool {
	clear(tree)
	missing := j.least
	for i := range j.record.members {
		m, f := &j.record.members[i], &j.fields[i]
		value := v.Field(m.index)
		if m.omitzero && value.IsZero() {
			continue
		}
		if f.closed {
			return false
		}
		missing &^= f.bit
		good := false
		switch m.kind {
		case reflect.String:
			good = f.schema.takesString(value.String())
		case reflect.Bool:
			good = f.schema.takes(kindBool)
		default:
			good = f.schema.takes(kindWhole)
		}
		if !good {
			return false
		}
		if f.wanted {
			tree[m.name] = fieldValue(m.kind, value)
		}
	}
	return missing == 0 && !j.never
}

// fieldValue returns a field in the form that a schema validates.
func fieldValue(kind reflect.Kind, value reflect.Value) any {
	switch kind {
	case reflect.String:
		return value.String()
	case reflect.Bool:
		return value.Bool()
	}
	return stdjson.Number(strconv.FormatInt(value.Int(), 10))
}
