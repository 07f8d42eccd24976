package applehealth_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/inprocess"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive/archivetest"
	applehealth "github.com/pdpp-go/pdpp/connectors/apple_health"
	"github.com/pdpp-go/pdpp/providersim/files"
)

func imported(t testing.TB, name string, content []byte) *inprocess.MemoryRunner {
	t.Helper()
	dir := t.TempDir()
	archivetest.WriteFile(t, dir+"/"+name, content)
	return inprocess.NewMemoryRunner(t, applehealth.Connector(), map[string]string{"APPLE_HEALTH_EXPORT_DIR": dir})
}

func xml(records string) []byte {
	return []byte(`<?xml version="1.0" encoding="UTF-8"?>` + files.HealthTypes + `<HealthData locale="de_DE">` + records +
		"</HealthData>")
}

// TestMeasurements holds every form of a measurement against what is stored.
func TestMeasurements(t *testing.T) {
	k := imported(t, "export.xml", xml(`
		<Record type="HKQuantityTypeIdentifierBodyMass" sourceName="Waage &#252; &quot;Eins&quot; &amp;amp;"
			unit="kg" startDate="2024-01-02 10:11:12 +0100" endDate="2024-01-02 10:11:13 +0100" value="72.5"/>
		<Record type='HKCategoryTypeIdentifierSleepAnalysis' sourceName='Uhr'
			startDate="2024-01-02 1:11:12 PM -0330" value="HKCategoryValueSleepAnalysisAsleep"></Record>
		<Record type="HKQuantityTypeIdentifierStepCount" startDate="2024-01-02 1:11:12 PM +0100" value="7,5"/>
		<Correlation type="HKCorrelationTypeIdentifierBloodPressure" startDate="2024-01-02 10:11:12 +0100">
		<Record type="HKQuantityTypeIdentifierBloodPressureSystolic" startDate="2024-01-02 10:11:12 +0100" value="120"/>
		</Correlation>
		<Record type="HKQuantityTypeIdentifierBloodPressureSystolic" startDate="2024-01-02 10:11:12 +0100" value="120"/>
		<Workout workoutActivityType="HKWorkoutActivityTypeCycling" duration="3600" durationUnit="s"
			totalDistance="10" totalDistanceUnit="mi" totalEnergyBurned="418.4" totalEnergyBurnedUnit="kJ"
			startDate="2024-01-02 10:11:12 +0100"/>
		<ActivitySummary dateComponents="2024-01-02"/>
		<!-- <Record type="never" startDate="2024-01-02 10:11:12 +0100"/> --><![CDATA[<Record type="never"/>]]>`)).Run()
	got := map[string]string{}
	for key := range k.Records["records"] {
		r := k.Fields("records", key)
		got[fmt.Sprint(r["type"])] = fmt.Sprint(r["source_name"], "|", r["unit"], "|", r["value"], "|", r["value_raw"], "|",
			r["start_date"], "|", r["end_date"])
	}
	want := map[string]string{
		"HKQuantityTypeIdentifierBodyMass": "Waage ü \"Eins\" " +
			"&amp;|kg|72.5|72.5|2024-01-02T10:11:12+01:00|2024-01-02T10:11:13+01:00",
		"HKCategoryTypeIdentifierSleepAnalysis": "Uhr|<nil>|<nil>|HKCategoryValueSleepAnalysisAsleep|" +
			"2024-01-02T13:11:12-03:30|<nil>",
		"HKQuantityTypeIdentifierStepCount":             "<nil>|<nil>|<nil>|7,5|2024-01-02T13:11:12+01:00|<nil>",
		"HKQuantityTypeIdentifierBloodPressureSystolic": "<nil>|<nil>|120|120|2024-01-02T10:11:12+01:00|<nil>",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || len(k.Records["records"]) != 4 || len(k.Gaps()) != 0 {
		t.Errorf("stored\n%v\nwant\n%v\ngaps %v", got, want, k.GapReasons())
	}
	for key := range k.Records["workouts"] {
		w := k.Fields("workouts", key)
		if fmt.Sprintf("%v %.3f %.3f", w["duration_minutes"], w["total_distance_km"],
			w["total_energy_burned_kcal"]) != "60 16.093 100.000" {
			t.Errorf("workout %v", w)
		}
	}
	if len(k.Records["workouts"]) != 1 || len(k.Records["activity_rings"]) != 1 {
		t.Errorf("%d workouts, %d rings", len(k.Records["workouts"]), len(k.Records["activity_rings"]))
	}
}

// TestDetails shows which details of measurements, workouts and days are collected: devices, app metadata, beats,
// sums, events, routes and rings. What is not collected is listed.
func TestDetails(t *testing.T) {
	content := string(xml(`<ExportDate value="2024-03-01 10:00:00 +0100"/>
		<Me HKCharacteristicTypeIdentifierBiologicalSex="x"/>
		<Record type="HKQuantityTypeIdentifierHeartRateVariabilitySDNN" sourceName="Watch" unit="ms"
			device="&lt;&lt;HKDevice: 0x2838f8&gt;, name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,2, software:9.1&gt;" creationDate="2024-01-02 10:12:00 +0100"
			startDate="2024-01-02 10:11:12 +0100" endDate="2024-01-02 10:12:12 +0100" value="45.5">
			<MetadataEntry key="HKAlgorithmVersion" value="2"/><MetadataEntry key="note" value="a &quot;b&quot;"/>
			<HeartRateVariabilityMetadataList><InstantaneousBeatsPerMinute bpm="61" time="10:11:13,12"/>
			<InstantaneousBeatsPerMinute bpm="63" time="10:11:14,12"/></HeartRateVariabilityMetadataList>
		</Record>
		<Correlation type="HKCorrelationTypeIdentifierFood" startDate="2024-01-02 10:11:12 +0100">
		<MetadataEntry key="HKFoodType" value="Soup"/>
		<Record type="HKQuantityTypeIdentifierDietaryProtein" startDate="2024-01-02 10:11:12 +0100" value="7"/></Correlation>
		<Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="30" durationUnit="min"
			device="&lt;&lt;HKDevice: 0x1&gt;, name:Apple Watch&gt;" startDate="2024-01-02 10:11:12 +0100"
			endDate="2024-01-02 10:41:12 +0100">
			<MetadataEntry key="HKIndoorWorkout" value="0"/>
			<WorkoutEvent type="HKWorkoutEventTypePause" date="2024-01-02 10:20:00 +0100" duration="1" durationUnit="min"/>
			<WorkoutStatistics type="HKQuantityTypeIdentifierHeartRate" average="140" minimum="100" maximum="170"
				unit="count/min"/>
			<WorkoutRoute sourceName="Watch"><MetadataEntry key="HKMetadataKeySyncVersion" value="2"/>
			<FileReference path="/workout-routes/route_2024-01-02.gpx"/></WorkoutRoute></Workout>
		<ActivitySummary dateComponents="2024-01-02"
			activeEnergyBurned="512.5" activeEnergyBurnedGoal="600" activeEnergyBurnedUnit="kcal"
			appleMoveTime="0" appleMoveTimeGoal="0" appleExerciseTime="31" appleExerciseTimeGoal="30"
			appleStandHours="11" appleStandHoursGoal="12"/>
		<Audiogram type="HKDataTypeIdentifierAudiogram" startDate="2024-01-02 10:11:12 +0100"/>`))
	k := imported(t, "export.zip",
		archivetest.PackZip(t, archivetest.PackedFile{Name: "apple_health_export/export.xml", Content: content},
			archivetest.PackedFile{Name: "apple_health_export/workout-routes/route_2024-01-02.gpx", Content: "<gpx/>"},
			archivetest.PackedFile{Name: "apple_health_export/electrocardiograms/ecg_2024-01-02.csv", Content: "x"},
			archivetest.PackedFile{Name: "apple_health_export/clinical-records/Observation-1.json", Content: "{}"})).Run()
	seen := func(stream string, fields ...string) (out []string) {
		for key := range k.Records[stream] {
			r := k.Fields(stream, key)
			row := ""
			for _, f := range fields {
				row += fmt.Sprint(r[f], "|")
			}
			out = append(out, row)
		}
		slices.Sort(out)
		return out
	}
	for _, c := range []struct {
		got  []string
		want string
	}{
		{seen("records", "type", "device", "creation_date", "metadata", "beats"),
			"[HKQuantityTypeIdentifierDietaryProtein|<nil>|<nil>|<nil>|<nil>| " +
				"HKQuantityTypeIdentifierHeartRateVariabilitySDNN|name:Apple Watch, manufacturer:Apple Inc., model:Watch, " +
				"hardware:Watch6,2, software:9.1|2024-01-02T10:12:00+01:00|map[HKAlgorithmVersion:2 note:a \"b\"]|[map[bpm:61 " +
				"time:10:11:13,12] map[bpm:63 time:10:11:14,12]]|]"},
		{seen("workouts", "device", "metadata", "events", "statistics", "route_files"),
			"[name:Apple Watch|map[HKIndoorWorkout:0]|[map[date:2024-01-02T10:20:00+01:00 duration_minutes:1 " +
				"type:HKWorkoutEventTypePause]]|[map[average:140 maximum:170 minimum:100 type:HKQuantityTypeIdentifierHeartRate " +
				"unit:count/min]]|[/workout-routes/route_2024-01-02.gpx]|]"},
		{seen("activity_rings", "id", "active_energy_kcal", "active_energy_goal_kcal", "exercise_minutes",
			"exercise_goal_minutes", "stand_hours", "stand_goal_hours"), "[2024-01-02|512.5|600|31|30|11|12|]"},
	} {
		if got := fmt.Sprint(c.got); got != c.want {
			t.Errorf("stored:\n%s\nwant\n%s", got, c.want)
		}
	}
	for key := range k.Records["coverage_diagnostics"] {
		if c := archivetest.StoredCoverage(t, k, key); c.File != "" {
			if got := fmt.Sprint(c.LeftOut,
				c.Unrecognized); got != "map[Audiogram:1 Clinical records:1 Electrocardiograms:1 Groups of measurements (their "+
				"measurements are kept):1 Personal details:1 Workout routes (GPS tracks):1] map[]" {
				t.Errorf("left out: %s", got)
			}
		}
	}
	if len(k.Gaps()) != 0 {
		t.Errorf("gaps: %v", k.GapReasons())
	}
}

// TestOtherFiles shows how files that are no export, or only a part of one, are reported.
func TestOtherFiles(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		reasons string
	}{
		"clinical": {`<?xml version="1.0"?><ClinicalDocument/>`, "map[]"},
		"other":    {`<gpx/>`, "map[archive_of_another_kind:1]"},
		"no XML":   {"hello", "map[archive_of_another_kind:1]"},
		"cut between": {`<HealthData><Record type="A" startDate="2024-01-02 10:11:12 +0100"/>`,
			"map[archive_damaged:1]"},
		"cut within": {`<HealthData><Record type="A" startDate="2024-01-02 10:11:12 +0100"/><Record ty`,
			"map[archive_damaged:1]"},
		"cut within a number": {`<HealthData><Record type="A" startDate="2024-01-02 10:11:12 +0100"/><Workout ` +
			`startDate="2024-01-02 10:11:12 +0100">`, "map[archive_damaged:1]"},
	} {
		k := imported(t, "export.xml", []byte(c.content)).Run()
		if got := fmt.Sprint(k.GapReasons()); got != c.reasons {
			t.Errorf("%s: %s", name, got)
		}
		if want := strings.Count(c.content, `"/>`); strings.HasPrefix(name, "cut") && len(k.Records["records"]) != want {
			t.Errorf("%s: %d records", name, len(k.Records["records"]))
		}
	}
	zip := archivetest.PackZip(t, archivetest.PackedFile{Name: "export.xml", Content: string(xml(""))})
	zip[bytes.Index(zip, []byte("PK\x01\x02"))+16] ^= 1 // the checksum of a member that is otherwise whole
	k := imported(t, "export.zip", zip).Run()
	if got := fmt.Sprint(k.GapReasons()); got != "map[member_damaged:1]" {
		t.Errorf("wrong checksum: %s", got)
	}
}

// TestEveryRecordIsStoredOrDeclared damages single lines of exports: all other measurements are
// stored, and the damaged one is stored or declared.
func TestEveryRecordIsStoredOrDeclared(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var lines []string
		for i := range 30 {
			lines = append(lines, fmt.Sprintf("<Record type=\"T%d\" sourceName=\"Uhr\" startDate=\"2024-01-02 10:11:%02d "+
				"+0100\" value=\"%d\"/>\n", i, i, i))
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
		if len(k.Records["records"])+len(k.Gaps()) < len(lines) && !strings.Contains(lines[bad], "&") &&
			strings.Contains(lines[bad], "<Record ") {
			t.Errorf("seed %d: %d stored and %d declared of %d: %q", seed, len(k.Records["records"]), len(k.Gaps()), len(lines),
				lines[bad])
		}
	}
}

// FuzzExport feeds anything to the parser: the run ends well, and what it stores is of the
// declared form.
func FuzzExport(f *testing.F) {
	f.Add([]byte(`<HealthData><Record type="A" startDate="2024-01-02 10:11:12 +0100" value="1"/><Workout ` +
		`startDate="2024-01-02 10:11:12 +0100"></Workout></HealthData>`))
	f.Add([]byte(files.HealthTypes + `<HealthData><!-- --><Record type='A' startDate="x"`))
	f.Add(bytes.Repeat([]byte("<HealthData>"), 3))
	f.Fuzz(func(t *testing.T, content []byte) { imported(t, "export.xml", content).Run() })
}
