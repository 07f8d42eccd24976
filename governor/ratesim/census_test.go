package ratesim

import (
	"reflect"
	"strings"
	"testing"
)

// What the governor reaches on members of every family that it always meets here. Other
// members are measured by the benchmark.
//
//pdpp:tier unraced
func TestCensus(t *testing.T) {
	t.Parallel()
	all := TakeCensus(600, 3, 1)
	if len(all) != len(AllFamilies()) {
		t.Fatalf("%d families", len(all))
	}
	for _, c := range all {
		if !c.Cold.Done || !c.Warm.Done {
			t.Errorf("%s: unfinished", c.Family)
		}
		if c.Cold.First <= 0 || c.Cold.First > 100 || c.Warm.First <= 0 || c.Cold.Efficiency < 40 || c.Warm.Efficiency < 50 {
			t.Errorf("%+v", c)
		}
	}
	if mean := MeanCensus(all); mean.Members != 3*len(all) || mean.Cold.Efficiency < 85 || mean.Warm.Efficiency < 85 {
		t.Errorf("%+v", mean)
	}
	if again := TakeCensus(600, 3, 1); !reflect.DeepEqual(all, again) {
		t.Error("two censuses of one seed differ")
	}
}

func TestPrintCensus(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := PrintCensus(&out, []FamilyAverage{
		{Family: "one", Members: 2, Cold: RunScore{Efficiency: 90, First: 80, Refusals: 2, Done: true},
			Warm: RunScore{Efficiency: 60, First: 50}},
		{Family: "two", Members: 2, Cold: RunScore{Efficiency: 80, First: 60, Refusals: 1, Done: true},
			Warm: RunScore{Efficiency: 80, First: 70, Done: true}},
	}); err != nil {
		t.Fatal(err)
	}
	words := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{"| one | 90.0 | 80.0 | 2.00 | 60.0* | 50.0 | 0.00 |",
		"| mean | 85.0 | 70.0 | 1.50 | 70.0* | 60.0 | 0.00 |"} {
		if !strings.Contains(words, want) {
			t.Errorf("%s lacks %s", words, want)
		}
	}
}
