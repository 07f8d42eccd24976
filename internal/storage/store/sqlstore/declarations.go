package sqlstore

import (
	"database/sql"
	"sync"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/manifest"
)

// manifestID identifies one generation of a manifest. Its body never changes.
type manifestID struct {
	connectorID string
	number      int64
}

// declaration is what a manifest declares about its streams. It is shared and immutable.
type declaration struct {
	streams []evidence.Stream
	places  map[string]int        // position of each stream by name
	keys    map[string][]fieldKey // keys to index, by stream
	refresh *manifest.RefreshPolicy
	// profiles are the names of the streams that each profile collects.
	profiles map[string]map[string]bool
	bad      bool // the manifest cannot be read
}

// maxDeclarations bounds the cache. There are about as many manifests as connectors, so it is rarely reached.
const maxDeclarations = 512

// declarations caches parsed manifests.
type declarations struct {
	mu    sync.Mutex
	known map[manifestID]*declaration
}

func (d *declarations) get(of manifestID) *declaration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.known[of]
}

func (d *declarations) put(of manifestID, read *declaration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known == nil || len(d.known) >= maxDeclarations {
		d.known = make(map[manifestID]*declaration)
	}
	d.known[of] = read
}

// declareKnown sets the declaration of every connection of the page and reports whether all were cached.
func (p *evidencePage) declareKnown() bool {
	seen := make(map[manifestID]*declaration)
	all := true
	for i := range p.made {
		of := p.made[i].of
		d, asked := seen[of]
		if !asked {
			d = p.known.get(of)
			seen[of] = d
		}
		p.declare(i, d)
		all = all && d != nil
	}
	return all
}

// declare sets the declaration of one connection; nil means that it is unknown.
func (p *evidencePage) declare(seat int, d *declaration) {
	if d == nil || d.bad {
		return
	}
	p.made[seat].declared = d
	e := &p.list[seat]
	e.Refresh = d.refresh
	e.Streams = append([]evidence.Stream(nil), d.streams...)
}

// manifests reads the manifests of the page. Connections with a missing or invalid manifest have no declaration.
func (p *evidencePage) manifests(rows *sql.Rows) error {
	read := make(map[manifestID]*declaration)
	for rows.Next() {
		var of manifestID
		var body []byte
		if err := rows.Scan(&of.connectorID, &of.number, &body); err != nil {
			return err
		}
		d := p.known.get(of)
		if d == nil {
			d = readDeclaration(body)
			p.known.put(of, d)
		}
		read[of] = d
	}
	for i := range p.made {
		p.declare(i, read[p.made[i].of])
	}
	return nil
}

func readDeclaration(body []byte) *declaration {
	m, err := manifest.Parse(body)
	if err != nil {
		return &declaration{bad: true}
	}
	d := &declaration{refresh: m.RefreshPolicy(), places: make(map[string]int, len(m.Streams)),
		keys:     make(map[string][]fieldKey, len(m.Streams)),
		profiles: make(map[string]map[string]bool, len(m.Profiles))}
	for i := range m.Streams {
		s := &m.Streams[i]
		d.streams = append(d.streams, evidence.Stream{Name: s.Name, Required: s.IsRequired(), Policy: s.CoveragePolicy,
			SelfReported: s.AsTold})
		d.places[s.Name] = i
		d.keys[s.Name] = indexedKeys(s, m.ExpandedBy(s.Name))
	}
	for _, profile := range m.Profiles {
		collected := make(map[string]bool, len(profile.Streams))
		for _, s := range profile.Streams {
			collected[s.Name] = true
		}
		d.profiles[profile.ID] = collected
	}
	return d
}
