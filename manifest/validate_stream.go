package manifest

import (
	"slices"
	"strings"
)

func (ps *Problems) checkStreams(streams []Stream) {
	seen := map[string]bool{}
	for i := range streams {
		s := &streams[i]
		path := element("streams", i)
		ps.once(seen, path+".name", s.Name)
		ps.checkCoverage(path, s)
		ps.checkRelationships(path, s, streams)
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

// checkRelationships holds relationships to streams, and expansions to relationships, that there are.
func (ps *Problems) checkRelationships(path string, s *Stream, streams []Stream) {
	names := map[string]bool{}
	for i, r := range s.Relationships {
		at := element(path+".relationships", i)
		ps.once(names, at+".name", r.Name)
		if r.Stream != "" && !slices.ContainsFunc(streams, func(other Stream) bool { return other.Name == r.Stream }) {
			ps.add(at+".stream", quote(r.Stream)+" is not a stream of this manifest", "name a declared stream")
		}
	}
	if s.Query == nil {
		return
	}
	for i, e := range s.Query.Expand {
		if e.Name != "" && !names[e.Name] {
			ps.add(element(path+".query.expand", i)+".name", quote(e.Name)+" is not a relationship of this stream", "name a declared relationship")
		}
		for n, r := range s.Relationships {
			if r.Name == e.Name && !followable(s, r, streams) {
				ps.add(element(path+".relationships", n)+".foreign_key", quote(r.ForeignKey)+" is a field of neither stream that could be followed",
					"name a field of this stream that holds the other's key, or one of the other stream that holds this one's")
			}
		}
	}
}

// followable reports whether the foreign key is a field of the stream that has to have it. A
// relationship to a stream that there is not is told otherwise.
func followable(s *Stream, r Relationship, streams []Stream) bool {
	if !r.InOther(s) {
		return true
	}
	i := slices.IndexFunc(streams, func(o Stream) bool { return o.Name == r.Stream })
	return i < 0 || streams[i].HasField(r.ForeignKey)
}

// checkSchema checks the record schema, then that every field that the stream
// names is one of its properties.
func (ps *Problems) checkSchema(path string, s *Stream) {
	if len(s.Schema) == 0 {
		return
	}
	if !soundSchema(s.Schema) {
		if _, err := compileSchema(s.Schema); err != nil {
			ps.add(path+".schema", "does not compile: "+strings.Join(strings.Fields(err.Error()), " "), "write a self-contained JSON Schema")
			return
		}
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
	if s.Selection != nil {
		known(path+".selection.resource_field", s.Selection.ResourceField)
	}
	views := map[string]bool{}
	for i, v := range s.Views {
		at := element(path+".views", i)
		ps.once(views, at+".id", v.ID)
		knownAll(at+".fields", v.Fields)
	}
	if q := s.Query; q != nil {
		q.eachField(path+".query", known)
	}
	ps.checkDisplay(path, s, known)
}
