package api

import (
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	"github.com/pdpp-go/pdpp/internal/web/reply"
)

var writerType = reflect.TypeFor[io.Writer]()

// member is a member of a JSON object that has no Go type of its own.
type member struct {
	name string
	typ  reflect.Type
	note string
	most string
}

// listObject is the first member of every list.
var listObject = member{name: "object", typ: reflect.TypeFor[listName]()}

// listName is the "object" of a list.
type listName string

// MarshalText returns the one value that there is.
func (listName) MarshalText() ([]byte, error) { return []byte("list"), nil }

func structOf(members ...member) reflect.Type {
	var fields []reflect.StructField
	for i, m := range members {
		tag := fmt.Sprintf(`json:%q query:%q note:%q maximum:%q`, m.name, m.name, m.note, m.most)
		if m.typ.Kind() == reflect.Map { // a Go client may send none as null
			tag += ` nullable:"true"`
		}
		if m == listObject {
			tag = `json:"object" enum:"list"`
		}
		name := fmt.Sprintf("Member%d", i)
		fields = append(fields, reflect.StructField{Name: name, Type: m.typ, Tag: reflect.StructTag(tag)})
	}
	return reflect.StructOf(fields)
}

// pageOf returns the type of an answer that has the members of a struct after "object". The first
// list of the struct is called data.
func pageOf(typ reflect.Type) reflect.Type {
	object := structOf(listObject).Field(0)
	fields, named := []reflect.StructField{object}, false
	for i := range typ.NumField() {
		field := typ.Field(i)
		if field.Type.Kind() == reflect.Slice && !named {
			field.Tag, named = `json:"data"`, true
		}
		tag := reflect.StructTag(fmt.Sprintf(`%s from:"%s.%s"`, field.Tag, typ.PkgPath(), typ.Name()))
		fields = append(fields, reflect.StructField{Name: field.Name, Type: field.Type, Tag: tag})
	}
	return reflect.StructOf(fields)
}

// fieldsOf returns the fields of an answer that hold the results, in their order.
func (o *Operation) fieldsOf(answer reflect.Value) []reflect.Value {
	var fields []reflect.Value
	for i := range answer.NumField() {
		if answer.Type().Field(i).Type != listObject.typ {
			fields = append(fields, answer.Field(i))
		}
	}
	return fields
}

// wrapped reports whether the answer is an object around the results, and not the result itself.
func (o *Operation) wrapped() bool {
	return o.answer != nil && o.Accepted == "" && o.answer != o.results[0]
}

// answerOf returns the JSON answer for the results of a call; nil means that it has none.
func (o *Operation) answerOf(arguments, results []any) any {
	switch {
	case o.Accepted != "":
		return o.accepted(arguments)
	case o.answer == nil:
		return nil
	case !o.wrapped():
		return results[0]
	}
	answer := reflect.New(o.answer).Elem()
	listed := false
	for i, field := range o.fieldsOf(answer) {
		field.Set(o.resultField(results, i))
		if field.Kind() == reflect.Slice && field.IsNil() && !listed { // an empty list is not null
			field.Set(reflect.MakeSlice(field.Type(), 0, 0))
		}
		listed = listed || field.Kind() == reflect.Slice
	}
	return answer.Interface()
}

// takeAnswer sets the results from a decoded answer; each result is a pointer.
func (o *Operation) takeAnswer(answer reflect.Value, results []any) {
	for i, field := range o.fieldsOf(answer) {
		o.resultField(results, i).Set(field)
	}
}

// resultField returns what the field of an answer holds: a result, or a field of the only one.
func (o *Operation) resultField(results []any, i int) reflect.Value {
	if o.Page {
		return reflect.ValueOf(results[0]).Elem().Field(i)
	}
	return reflect.ValueOf(results[i]).Elem()
}

func (o *Operation) accepted(arguments []any) Accepted {
	a := Accepted{Object: o.Accepted, Status: "accepted"}
	id := arguments[0].(string)
	if o.segments[1] == "runs" {
		a.RunID = id
	} else {
		a.ConnectionID = id
	}
	if answer, ok := arguments[len(arguments)-1].(Answer); ok {
		a.QuestionID = answer.RequestID
	}
	return a
}

// Serve answers a request with what the owner's method returns. It writes nothing but a success,
// or the rejection of a body; every other error is returned.
func (o *Operation) Serve(w http.ResponseWriter, r *http.Request, owner Owner) error {
	arguments, ok, err := o.read(w, r)
	if err != nil || !ok {
		return err
	}
	results := o.newResults()
	if err := o.Invoke(r.Context(), owner, arguments, results...); err != nil {
		return err
	}
	if answer := o.answerOf(arguments, results); answer != nil {
		reply.JSON(w, o.status(), answer)
	} else {
		w.WriteHeader(o.status())
	}
	return nil
}

// read returns the arguments of a request. It returns false when it has answered for the body.
func (o *Operation) read(w http.ResponseWriter, r *http.Request) (arguments []any, ok bool, err error) {
	for _, segment := range o.segments {
		if pathParameter.MatchString(segment) {
			arguments = append(arguments, r.PathValue(strings.Trim(segment, "{.}")))
		}
	}
	var last reflect.Value
	switch {
	case o.query != nil:
		last = reflect.New(o.query)
		if err := ReadQuery(r, last.Interface()); err != nil {
			return nil, false, err
		}
	case o.body != nil:
		last = reflect.New(o.body)
		if defaults, is := last.Interface().(interface{ setDefaults() }); is {
			defaults.setDefaults()
		}
		if !reply.Read(w, r, last.Interface()) {
			return nil, false, nil
		}
		if checked, is := last.Interface().(interface{ check() error }); is {
			if err := checked.check(); err != nil {
				return nil, false, err
			}
		}
	}
	switch {
	case !last.IsValid() || o.NoQuery:
	case o.Argument != "":
		arguments = append(arguments, last.Elem().Field(0).Interface())
	default:
		arguments = append(arguments, last.Elem().Interface())
	}
	return arguments, true, nil
}
