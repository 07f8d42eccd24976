package connectorkit

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/manifest/gate"
)

// Validator checks one decoded record before it is emitted. Its error is a *Fault, or counts as one at the path
// "record".
type Validator func(stream string, record map[string]any) error

// ValidateSchemas returns a validator that uses the JSON Schema of each stream.
func ValidateSchemas(m *manifest.Manifest) (Validator, error) {
	schemas, err := m.CompileSchemas()
	if err != nil {
		return nil, err
	}
	return func(stream string, record map[string]any) error {
		schema, ok := schemas[stream]
		if !ok {
			return &Fault{Path: "stream"}
		}
		if err := schema.Validate(record); err != nil {
			return &Fault{Path: manifest.SchemaPath(err)}
		}
		return nil
	}, nil
}

// lazySchemaValidator is ValidateSchemas, but compiles the schemas with the first record.
func lazySchemaValidator(m *manifest.Manifest) Validator {
	read := sync.OnceValues(func() (Validator, error) { return ValidateSchemas(m) })
	return func(stream string, record map[string]any) error {
		validate, err := read()
		if err != nil {
			return err
		}
		return validate(stream, record)
	}
}

// CheckValidation checks that every connector with streams validates its records (RT-10). The exceptions in
// schemaless, by connector key, contain a reason and a way out. An unnecessary entry is an error too, so that the
// list can only shrink.
func CheckValidation(connectors []Connector, schemaless map[string]string) []error {
	var errs []error
	known := map[string]bool{}
	for _, c := range connectors {
		key := c.Manifest.Key()
		known[key] = true
		why, listed := schemaless[key]
		wired := c.Validate != nil
		switch {
		case listed && wired:
			errs = append(errs, fmt.Errorf("connector %s validates its records: remove it from the schemaless list", key))
		case listed && len(c.Manifest.Streams) == 0:
			errs = append(errs, fmt.Errorf("connector %s declares no streams: remove it from the schemaless list", key))
		case listed && strings.TrimSpace(why) == "":
			errs = append(
				errs,
				fmt.Errorf("connector %s is on the schemaless list without a justification: say why and what would end it", key),
			)
		case !listed && !wired && len(c.Manifest.Streams) > 0:
			errs = append(
				errs,
				fmt.Errorf(
					"connector %s emits records without validation: build it with New, or add a justified entry to the schemaless "+
						"list",
					key,
				),
			)
		}
	}
	for key := range schemaless {
		if !known[key] {
			errs = append(errs, fmt.Errorf("the schemaless list names %s, which is no connector: remove the entry", key))
		}
	}
	return errs
}

// quickSchemas returns the compiled schemas by stream, or nil if records are validated by more than their schemas.
func (c *Connector) quickSchemas() map[string]*gate.Schema {
	if c.Validate == nil || c.quick == nil ||
		reflect.ValueOf(c.Validate).Pointer() != reflect.ValueOf(c.wired).Pointer() {
		return nil
	}
	return c.quick()
}

// compiledSchemas returns the compiled schemas of a manifest, by stream, without those that are too complex.
func compiledSchemas(m *manifest.Manifest) map[string]*gate.Schema {
	all := map[string]*gate.Schema{}
	for _, s := range m.Streams {
		if q, ok := gate.CompileSchema(jsontext.Value(s.Schema), nil); ok {
			all[s.Name] = q
		}
	}
	return all
}
