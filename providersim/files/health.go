package files

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// AppleHealth makes a folder with exports of the Health app.
func AppleHealth(dir string, c Config) (World, error) { return newImports(dir, c, &healthAccount{}) }

type healthAccount struct {
	measured []measurement
	workouts []simWorkout
	newer    bool
}

type measurement struct{ kind, source, unit, value, start, end string }

type simWorkout struct {
	start, end string
	minutes    float64
	energy     float64
	distance   float64
}

func (*healthAccount) exportName(*Tree) string { return "export" }

const healthTime = "2006-01-02 15:04:05 -0700"

func (h *healthAccount) growAccount(t *Tree) {
	t.advanceClock()
	at := t.clock.In(time.FixedZone("", 3600*(t.rng.IntN(5)-2)))
	one := measurement{kind: "HKQuantityTypeIdentifierHeartRate", source: "Mara’s Apple Watch & <co>", unit: "count/min",
		value: strconv.Itoa(50 + t.rng.IntN(90)), start: at.Format(healthTime), end: at.Add(time.Minute).Format(healthTime)}
	if t.rng.IntN(4) == 0 {
		one.kind, one.unit, one.value = "HKCategoryTypeIdentifierSleepAnalysis", "", "HKCategoryValueSleepAnalysisAsleepCore"
	}
	h.measured = append(h.measured, one)
	if t.rng.IntN(6) == 0 {
		h.workouts = append(h.workouts, simWorkout{at.Format(healthTime), at.Add(time.Hour).Format(healthTime), 60, 400.5,
			8.25})
	}
}

func healthText(text string) string {
	at, err := time.Parse(healthTime, text)
	if err != nil {
		return ""
	}
	return at.Format("2006-01-02T15:04:05-07:00")
}

// HealthTypes is a declaration of types as exports of some years have it: with one bracket too
// few, which no parser takes.
const HealthTypes = "<!DOCTYPE HealthData [\n<!-- HealthKit Export Version: 11 -->\n<!ELEMENT HealthData " +
	"(ExportDate,Me,(Record|Workout)*)>\n<!ATTLIST Record\n  type CDATA #REQUIRED\n  value CDATA #IMPLIED\n<!ATTLIST " +
	"Workout\n  duration CDATA #IMPLIED>\n]>\n"

// exportMembers alternates between the forms of older and newer phones.
func (h *healthAccount) exportMembers(t *Tree) []Member {
	h.newer = !h.newer
	var b strings.Builder
	m := Member{Name: "apple_health_export/export.xml"}
	if h.newer {
		m.Name = "apple_health_export/Exportación.xml"
	}
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + HealthTypes +
		"<HealthData locale=\"sv_SE\">\n <ExportDate value=\"2026-03-01 12:00:00 +0100\"/>\n <Me " +
		"HKCharacteristicTypeIdentifierBiologicalSex=\"x\" HKCharacteristicTypeIdentifierBloodType=\"x\"/>\n")
	for i, r := range h.measured {
		source := strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(r.source)
		fmt.Fprintf(&b, ` <Record type="%s" sourceName="%s" sourceVersion="9.1"`, r.kind, source)
		if r.unit != "" {
			fmt.Fprintf(&b, ` unit="%s"`, r.unit)
		}
		fmt.Fprintf(&b, ` creationDate="%s" startDate="%s" endDate="%s" value="%s"`, r.end, r.start, r.end, r.value)
		if i%3 == 0 {
			b.WriteString(">\n  <MetadataEntry key=\"a > b\" value='\"1\"'/>\n </Record>\n")
		} else {
			b.WriteString("/>\n")
		}
		fields := map[string]any{"type": r.kind, "source_name": r.source, "value_raw": r.value,
			"start_date": healthText(r.start), "end_date": healthText(r.end)}
		if n, err := strconv.ParseFloat(r.value, 64); err == nil {
			fields["value"] = n
		}
		m.Items = append(m.Items, Item{Stream: "records", Fields: fields})
	}
	for _, w := range h.workouts {
		fmt.Fprintf(&b, ` <Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="%g" durationUnit="min" `+
			`sourceName="Mara" startDate="%s" endDate="%s"`, w.minutes, w.start, w.end)
		if h.newer {
			fmt.Fprintf(&b, ">\n  <WorkoutStatistics type=\"HKQuantityTypeIdentifierActiveEnergyBurned\" sum=\"%g\" "+
				"unit=\"Cal\"/>\n  <WorkoutStatistics type=\"HKQuantityTypeIdentifierDistanceWalkingRunning\" sum=\"%g\" "+
				"unit=\"km\"/>\n </Workout>\n", w.energy, w.distance)
		} else {
			fmt.Fprintf(&b, " totalEnergyBurned=\"%g\" totalEnergyBurnedUnit=\"kcal\" totalDistance=\"%g\" "+
				"totalDistanceUnit=\"km\"/>\n", w.energy, w.distance)
		}
		m.Items = append(m.Items, Item{Stream: "workouts", Fields: map[string]any{
			"workout_activity_type": "HKWorkoutActivityTypeRunning", "duration_minutes": w.minutes,
			"total_energy_burned_kcal": w.energy, "total_distance_km": w.distance,
			"start_date": healthText(w.start), "end_date": healthText(w.end),
		}})
	}
	b.WriteString("</HealthData>\n")
	m.Content = []byte(b.String())
	return []Member{m, {Name: "apple_health_export/export_cda.xml",
		Content: []byte(`<?xml version="1.0"?><ClinicalDocument xmlns="urn:hl7-org:v3"></ClinicalDocument>`)},
		{Name: "apple_health_export/workout-routes/r.gpx", Content: []byte("<gpx/>")}}
}

func (h *healthAccount) hostileMembers(*Tree) []Member {
	return []Member{{
		Name: "apple_health_export/export.xml",
		Content: []byte("<HealthData>\n<Record type=\"A\" startDate=\"someday\"/>\n<Record type=\"B\" " +
			"startDate=\"2026-03-01 10:00:00 +0100\" value=\"1\" <Record type=\"C\" startDate=\"2026-03-01 10:00:00 +0100\" " +
			"value=\"1,5\"/>\n" +
			"<Record startDate=\"2026-03-01 10:00:00 +0100\"/></HealthData>"),
		Items: []Item{{Stream: "records",
			Fields: map[string]any{"type": "C", "value_raw": "1,5", "start_date": "2026-03-01T10:00:00+01:00"}}},
	}}
}

// WriteHealth writes an export of about that many bytes, and returns its number of measurements.
func WriteHealth(w io.Writer, size int64, seed uint64) (records int64, err error) {
	rng := rand.New(rand.NewPCG(seed, 3))
	written, err := io.WriteString(w,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"+HealthTypes+"<HealthData locale=\"sv_SE\">\n")
	total := int64(written)
	at := time.Date(2016, 1, 1, 0, 0, 0, 0, time.FixedZone("", 3600))
	for err == nil && total < size {
		at = at.Add(time.Duration(1+rng.IntN(300)) * time.Second)
		start := at.Format(healthTime)
		n, fault := fmt.Fprintf(w,
			" <Record type=\"HKQuantityTypeIdentifierHeartRate\" sourceName=\"Mara’s Apple Watch\" sourceVersion=\"9.1\" "+
				"device=\"&lt;&lt;HKDevice: 0x28, name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,2, "+
				"software:9.1&gt;\" unit=\"count/min\" creationDate=\"%s\" startDate=\"%s\" endDate=\"%s\" value=\"%d\">\n  "+
				"<MetadataEntry key=\"HKMetadataKeyHeartRateMotionContext\" value=\"%d\"/>\n </Record>\n", start, start, start,
			45+rng.IntN(120), rng.IntN(3))
		total, err = total+int64(n), fault
		records++
	}
	if err == nil {
		_, err = io.WriteString(w, "</HealthData>\n")
	}
	return records, err
}
