package manifest

import (
	"slices"
	"strings"
	"testing"
)

func TestCompileSchemas(t *testing.T) {
	m := parse(t, example(t))
	schemas, err := m.CompileSchemas()
	if err != nil {
		t.Fatal(err)
	}
	if len(schemas) != len(m.Streams) {
		t.Errorf("%d schemas for %d streams", len(schemas), len(m.Streams))
	}
	letters := schemas["letters"]
	if err := letters.Validate(map[string]any{"id": "7", "updated_at": "2026-05-01T10:00:00Z"}); err != nil {
		t.Errorf("a sound record is refused: %v", err)
	}
	if err := letters.Validate(map[string]any{"id": "7"}); err == nil {
		t.Error("a record without a required field is accepted")
	}
}

func TestCompileSchemasNamesTheStream(t *testing.T) {
	m := parse(t, example(t))
	m.Streams[2].Schema = []byte(`{"type":"thing"}`)
	if _, err := m.CompileSchemas(); err == nil || !strings.Contains(err.Error(), "stream letter_bodies") {
		t.Errorf("error = %v", err)
	}
}

func TestRecordSchemaMayReferToItself(t *testing.T) {
	parse(
		t,
		edited(t, edits{"streams[0].schema.properties.id.$ref": "#/$defs/key", "streams[0].schema.$defs.key.type": "string"}),
	)
}

func TestRecordSchemaNeverLoadsADocument(t *testing.T) {
	for _, ref := range []string{"file:///etc/hostname", "https://registry.example/schema.json", "other.json"} {
		_, err := compileSchema([]byte(`{"type":"object","$ref":"` + ref + `"}`))
		if err == nil || !strings.Contains(err.Error(), errExternalSchema.Error()) {
			t.Errorf("$ref %s: error = %v", ref, err)
		}
	}
}

func TestRecordSchemaWithExtremeNumbers(t *testing.T) {
	for number, sound := range map[string]bool{
		"1e300": true, "2.5E-03": true, "1e+0000007": true, "1e9999": false, "1e999999999": false, "1E-999999999": false,
	} {
		_, err := compileSchema([]byte(`{"type":"object","properties":{"n":{"maximum":` + number + `}}}`))
		if sound != (err == nil) {
			t.Errorf("%s: error = %v", number, err)
		}
	}
}

func TestRequiredFields(t *testing.T) {
	m := parse(t, example(t))
	if got, want := m.Streams[1].RequiredFields(), []string{"id", "updated_at"}; !slices.Equal(got, want) {
		t.Errorf("RequiredFields = %v, want %v", got, want)
	}
	for _, schema := range []string{`{"type":"object"}`, `{"Required":["id"]}`, `{"required":"id"}`, `[]`, ``} {
		s := Stream{Schema: []byte(schema)}
		if got := s.RequiredFields(); got != nil {
			t.Errorf("RequiredFields of %s = %v", schema, got)
		}
	}
}
