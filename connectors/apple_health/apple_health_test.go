package applehealth_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pdpp/connectorkit/localarchive/archivetest"
	applehealth "pdpp/connectors/apple_health"
	"pdpp/providersim/files"
)

func imported(t testing.TB, name string, content []byte) *archivetest.Kept {
	t.Helper()
	dir := t.TempDir()
	archivetest.Write(t, dir+"/"+name, content)
	return archivetest.New(t, applehealth.Connector(), map[string]string{"APPLE_HEALTH_EXPORT_DIR": dir})
}

func xml(records string) []byte {
	return []byte(`<?xml version="1.0" encoding="UTF-8"?>` + files.HealthTypes + `<HealthData locale="de_DE">` + records + "</HealthData>")
}

// TestMeasurements holds every form of a measurement against what is stored.
func TestMeasurements(t *testing.T) {
	k := imported(t, "export.xml", xml(`
		<Record type="HKQuantityTypeIdentifierBodyMass" sourceName="Waage &#252; &quot;Eins&quot; &amp;amp;" unit="kg" startDate="2024-01-02 10:11:12 +0100" endDate="2024-01-02 10:11:13 +0100" value="72.5"/>
		<Record type='HKCategoryTypeIdentifierSleepAnalysis' sourceName='Uhr' startDate="2024-01-02 1:11:12 PM -0330" value="HKCategoryValueSleepAnalysisAsleep"></Record>
		<Record type="HKQuantityTypeIdentifierStepCount" startDate="2024-01-02 1:11:12 PM +0100" value="7,5"/>
		<Correlation type="HKCorrelationTypeIdentifierBloodPressure" startDate="2024-01-02 10:11:12 +0100"><Record type="HKQuantityTypeIdentifierBloodPressureSystolic" startDate="2024-01-02 10:11:12 +0100" value="120"/></Correlation>
		<Record type="HKQuantityTypeIdentifierBloodPressureSystolic" startDate="2024-01-02 10:11:12 +0100" value="120"/>
		<Workout workoutActivityType="HKWorkoutActivityTypeCycling" duration="3600" durationUnit="s" totalDistance="10" totalDistanceUnit="mi" totalEnergyBurned="418.4" totalEnergyBurnedUnit="kJ" startDate="2024-01-02 10:11:12 +0100"/>
		<ActivitySummary dateComponents="2024-01-02"/><!-- <Record type="never" startDate="2024-01-02 10:11:12 +0100"/> --><![CDATA[<Record type="never"/>]]>`)).Run()
	got := map[string]string{}
	for key := range k.Records["records"] {
		r := k.Fields("records", key)
		got[fmt.Sprint(r["type"])] = fmt.Sprint(r["source_name"], "|", r["unit"], "|", r["value"], "|", r["value_raw"], "|", r["start_date"], "|", r["end_date"])
	}
	want := map[string]string{
		"HKQuantityTypeIdentifierBodyMass":              "Waage ü \"Eins\" &amp;|kg|72.5|72.5|2024-01-02T10:11:12+01:00|2024-01-02T10:11:13+01:00",
		"HKCategoryTypeIdentifierSleepAnalysis":         "Uhr|<nil>|<nil>|HKCategoryValueSleepAnalysisAsleep|2024-01-02T13:11:12-03:30|<nil>",
		"HKQuantityTypeIdentifierStepCount":             "<nil>|<nil>|<nil>|7,5|2024-01-02T13:11:12+01:00|<nil>",
		"HKQuantityTypeIdentifierBloodPressureSystolic": "<nil>|<nil>|120|120|2024-01-02T10:11:12+01:00|<nil>",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || len(k.Records["records"]) != 4 || len(k.Gaps) != 0 {
		t.Errorf("stored\n%v\nwant\n%v\ngaps %v", got, want, k.Reasons())
	}
	for key := range k.Records["workouts"] {
		w := k.Fields("workouts", key)
		if fmt.Sprintf("%v %.3f %.3f", w["duration_minutes"], w["total_distance_km"], w["total_energy_burned_kcal"]) != "60 16.093 100.000" {
			t.Errorf("workout %v", w)
		}
	}
	if n := k.Account("health_data").LinesByKind["other elements"]; n != 1 || len(k.Records["workouts"]) != 1 {
		t.Errorf("%d other elements, %d workouts", n, len(k.Records["workouts"]))
	}
}

// TestOtherFiles shows what is said of files that are no export, or not all of one.
func TestOtherFiles(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		reasons string
	}{
		"clinical":            {`<?xml version="1.0"?><ClinicalDocument/>`, "map[]"},
		"other":               {`<gpx/>`, "map[archive_of_another_kind:1]"},
		"no XML":              {"hello", "map[archive_of_another_kind:1]"},
		"cut between":         {`<HealthData><Record type="A" startDate="2024-01-02 10:11:12 +0100"/>`, "map[archive_damaged:1]"},
		"cut within":          {`<HealthData><Record type="A" startDate="2024-01-02 10:11:12 +0100"/><Record ty`, "map[archive_damaged:1]"},
		"cut within a number": {`<HealthData><Record type="A" startDate="2024-01-02 10:11:12 +0100"/><Workout startDate="2024-01-02 10:11:12 +0100">`, "map[archive_damaged:1]"},
	} {
		k := imported(t, "export.xml", []byte(c.content)).Run()
		if got := fmt.Sprint(k.Reasons()); got != c.reasons {
			t.Errorf("%s: %s", name, got)
		}
		if want := strings.Count(c.content, `"/>`); strings.HasPrefix(name, "cut") && len(k.Records["records"]) != want {
			t.Errorf("%s: %d records", name, len(k.Records["records"]))
		}
	}
}

// TestEveryRecordIsStoredOrDeclared damages single lines of exports: all other measurements are
// stored, and the damaged one is stored or declared.
func TestEveryRecordIsStoredOrDeclared(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var lines []string
		for i := range 30 {
			lines = append(lines, fmt.Sprintf("<Record type=\"T%d\" sourceName=\"Uhr\" startDate=\"2024-01-02 10:11:%02d +0100\" value=\"%d\"/>\n", i, i, i))
		}
		bad := rng.IntN(len(lines))
		line := []byte(lines[bad])
		for range 1 + rng.IntN(3) {
			switch at := rng.IntN(len(line)); rng.IntN(3) {
			case 0:
				line = append(line[:at], line[at+1:]...)
			case 1:
				line[at] = `"'<>&/= x`[rng.IntN(9)]
			default:
				line = append(line[:at:at], append([]byte{`"'<>&`[rng.IntN(5)]}, line[at:]...)...)
			}
		}
		lines[bad] = string(line)
		k := imported(t, "export.xml", xml(strings.Join(lines, ""))).Run()
		types := map[string]bool{}
		for key := range k.Records["records"] {
			types[fmt.Sprint(k.Fields("records", key)["type"])] = true
		}
		for i := range lines {
			if name := fmt.Sprintf("T%d", i); i != bad && !types[name] {
				t.Fatalf("seed %d: %s is lost because of %q", seed, name, lines[bad])
			}
		}
		if len(k.Records["records"])+len(k.Gaps) < len(lines) && !strings.Contains(lines[bad], "&") && strings.Contains(lines[bad], "<Record ") {
			t.Errorf("seed %d: %d stored and %d declared of %d: %q", seed, len(k.Records["records"]), len(k.Gaps), len(lines), lines[bad])
		}
	}
}

// FuzzExport feeds anything to the parser: the run ends well, and what it stores is of the
// declared form.
func FuzzExport(f *testing.F) {
	f.Add([]byte(`<HealthData><Record type="A" startDate="2024-01-02 10:11:12 +0100" value="1"/><Workout startDate="2024-01-02 10:11:12 +0100"></Workout></HealthData>`))
	f.Add([]byte(files.HealthTypes + `<HealthData><!-- --><Record type='A' startDate="x"`))
	f.Add(bytes.Repeat([]byte("<HealthData>"), 3))
	f.Fuzz(func(t *testing.T, content []byte) { imported(t, "export.xml", content).Run() })
}
