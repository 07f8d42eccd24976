package connectorkit

import (
	stdjson "encoding/json"
	"reflect"
	"slices"
	"strconv"
)

// fieldJudge is a quickSchema for records of one type of struct, whose fields can be looked at
// themselves. What it knows of each is looked up once.
type fieldJudge struct {
	record *quickRecord
	fields []judgedField // as in record
	least  uint64        // bits of the members that must be there
	never  bool          // no such record is good
}

type judgedField struct {
	schema *quickSchema
	bit    uint64
	closed bool // the schema has no such member
	wanted bool // it goes into the tree
}

// fieldJudge is for records whose members by those names are wanted.
func (q *quickSchema) fieldJudge(r *quickRecord, names []string) *fieldJudge {
	j := &fieldJudge{record: r, least: q.required, never: !q.takes(kindObject)}
	for i := range r.members {
		name := r.members[i].name
		f := judgedField{schema: q.others, wanted: slices.Contains(names, name)}
		if known := q.members[name]; known != nil {
			f.schema, f.bit = known.schema, known.bit
		} else {
			f.closed = q.closed
		}
		j.fields = append(j.fields, f)
	}
	return j
}

// judge is that of quickSchema. It puts the members that are wanted into tree.
func (j *fieldJudge) judge(v reflect.Value, tree map[string]any) bool {
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
			tree[m.name] = memberOf(m.kind, value)
		}
	}
	return missing == 0 && !j.never
}

// memberOf is a field as a schema would see it.
func memberOf(kind reflect.Kind, value reflect.Value) any {
	switch kind {
	case reflect.String:
		return value.String()
	case reflect.Bool:
		return value.Bool()
	}
	return stdjson.Number(strconv.FormatInt(value.Int(), 10))
}
