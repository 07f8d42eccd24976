// Package applehealth imports the export of Apple's Health app: measurements and workouts, from
// one XML file of up to many gigabytes.
//
//	xml.go      elements and their attributes, read once and without a parser's tree
//	records.go  a measurement
//	workouts.go a workout, with its parts
package applehealth

import (
	"context"
	_ "embed"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the connector of Apple Health exports.
func Connector() connectorkit.Connector { return connectorkit.MustNew(manifestJSON, newCollectors) }

func newCollectors(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	return []connectorkit.Collector{localarchive.Import{
		Dir: s.Env("APPLE_HEALTH_EXPORT_DIR"), Streams: []string{"records", "workouts", "activity_rings"},
		// The file is called export.xml, or that in the language of the phone.
		Kinds: []localarchive.MemberKind{{Name: "health_data", Patterns: []string{"**/*.xml"},
			Streams: []string{"records", "workouts", "activity_rings"}, Reason: "measurements, workouts and rings",
			Read: readExport}},
		LeftOut: []localfile.LeftOut{
			{Name: "Workout routes (GPS tracks)", Patterns: []string{"**/*.gpx"}},
			{Name: "Electrocardiograms", Patterns: []string{"**/electrocardiograms/**"}},
			{Name: "Clinical records", Patterns: []string{"**/clinical-records/**", "**/clinical_records/**"}},
		},
		Empty: "the folder holds no Apple Health export; put the export.zip that the Health app made into it",
		// Measurements repeat themselves so much that they are packed very tightly.
		Limits: localarchive.ArchiveLimits{Entries: 1_000_000, Entry: 64 << 30, Total: 64 << 30, Ratio: 400},
	}.Source().Collector()}, nil
}
