package manifest

import "strings"

func (ps *Problems) checkStreams(streams []Stream) {
	seen := map[string]bool{}
	for i := range streams {
		s := &streams[i]
		path := element("streams", i)
		if seen[s.Name] && s.Name != "" {
			ps.add(path+".name", quote(s.Name)+" is used twice", "give each stream its own name")
		}
		seen[s.Name] = true
		ps.checkCoverage(path, s)
		ps.checkSchema(path, s)
	}
}

// checkCoverage refuses a stream that cannot be collected and yet is required:
// it would degrade the connection for ever.
func (ps *Problems) checkCoverage(path string, s *Stream) {
	policy := s.Policy()
	if (policy == PolicyUnsupported || policy == PolicyUnavailable) && s.IsRequired() {
		ps.add(path+".required", "is not false although coverage_policy is "+string(policy),
			`add "required": false, or choose another coverage_policy`)
	}
}

// checkSchema checks the record schema, then that every field that the stream
// names is one of its properties.
func (ps *Problems) checkSchema(path string, s *Stream) {
	if len(s.Schema) == 0 {
		return
	}
	if _, err := compileSchema(s.Schema); err != nil {
		ps.add(path+".schema", "does not compile: "+strings.Join(strings.Fields(err.Error()), " "), "write a self-contained JSON Schema")
		return
	}
	outline, err := outlineOf(s.Schema)
	if err != nil {
		ps.add(path+".schema", "does not describe an object", "make it a schema with type object and properties")
		return
	}
	if outline.kind != "object" {
		ps.add(path+".schema.type", `is not "object"`, `set it to "object": every record is an object`)
	}
	known := func(at, name string) {
		if _, ok := outline.properties[name]; !ok && name != "" {
			ps.add(at, quote(name)+" is not in schema.properties", "name a property of the schema or add it there")
		}
	}
	knownAll := func(at string, names []string) {
		for i, name := range names {
			known(element(at, i), name)
		}
	}
	knownAll(path+".schema.required", outline.required)
	knownAll(path+".primary_key", s.PrimaryKey)
	known(path+".cursor_field", s.CursorField)
	known(path+".consent_time_field", s.ConsentTimeField)
	if s.Query != nil {
		knownAll(path+".query.search", s.Query.Search)
		knownAll(path+".query.filter", s.Query.Filter)
	}
}
