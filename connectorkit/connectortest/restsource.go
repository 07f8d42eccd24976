package connectortest

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/providersim"
)

// StartOf returns the Start of a Target with a simulator. Env returns the variables of a connector, by the simulator's
// address.
func StartOf(create func() providersim.Simulator, env func(base string) map[string]string) func(*testing.T) *Sim {
	return func(t *testing.T) *Sim {
		t.Helper()
		s, err := providersim.Start("simulator", create(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return &Sim{Provider: s.Sim, Gate: s.Sim.Gate(), Env: env(s.BaseURL)}
	}
}

// RecordMembers lists the members of each stream's records, separated by spaces: "name" is the provider's member of the
// same name, "name=a.b" another one, "name=#a.b" a number as text, and "name=a.*.b" the members of a list. Stored is
// for sources that leave out empty values. It shares no code with the connectors' engine.
type RecordMembers map[string]string

// Stored returns the record that the store must hold for an object of the provider.
func (m RecordMembers) Stored(stream, key string, data json.RawMessage) (json.RawMessage, error) {
	return m.StoredWith(nil)(stream, key, data)
}

// StoredWith returns Stored with a function that completes each record.
func (m RecordMembers) StoredWith(complete func(stream, key string, record map[string]any)) func(stream, key string,
	data json.RawMessage) (json.RawMessage, error) {
	return func(stream, key string, data json.RawMessage) (json.RawMessage, error) {
		record, err := m.record(stream, data)
		if err == nil && complete != nil {
			complete(stream, key, record)
		}
		if err != nil {
			return nil, err
		}
		return json.Marshal(record)
	}
}

func (m RecordMembers) record(stream string, data json.RawMessage) (map[string]any, error) {
	var object any
	if err := json.Unmarshal(data, &object); err != nil {
		return nil, err
	}
	record := map[string]any{}
	for member := range strings.FieldsSeq(m[stream]) {
		name, path, other := strings.Cut(member, "=")
		if !other {
			path = name
		}
		path, isNumber := strings.CutPrefix(path, "#")
		value := valueAt(object, strings.Split(path, "."))
		if number, is := value.(float64); is && isNumber {
			value = strconv.FormatFloat(number, 'f', -1, 64)
		}
		if list, isList := value.([]any); value != nil && value != "" && (!isList || len(list) > 0) {
			record[name] = value
		}
	}
	return record, nil
}

// valueAt returns the value at a path, or nil if there is none.
func valueAt(value any, path []string) any {
	for i, name := range path {
		if list, isList := value.([]any); isList && name == "*" {
			out := []any{}
			for _, element := range list {
				if v := valueAt(element, path[i+1:]); v != nil {
					out = append(out, v)
				}
			}
			return out
		}
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}
