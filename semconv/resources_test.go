package semconv_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/semconv"
)

func TestNormalizeVectors(t *testing.T) {
	for _, v := range readVectors(t).Normalize {
		t.Run(strings.Join(show(v.In), " "), func(t *testing.T) {
			before := show(v.In)
			out, warns := semconv.Normalize(v.In)
			if diff := cmp.Diff(show(v.Out), show(out)); diff != "" {
				t.Errorf("out (-want +got):\n%s", diff)
			}
			if !slices.Equal(warns, v.Warns) {
				t.Errorf("warnings for %q, want %q", warns, v.Warns)
			}
			if diff := cmp.Diff(before, show(v.In)); diff != "" {
				t.Errorf("the argument changed (-before +after):\n%s", diff)
			}
		})
	}
}

// A list as a worker's carrier brings it: order is kept, what is right is typed,
// what is wrong is named in order, and everything else is as it was.
func TestNormalizeKeepsOrderAndTheRest(t *testing.T) {
	out, warns := semconv.Normalize([]attribute.KeyValue{
		attribute.String("site.id", "007"),
		attribute.String(semconv.NVGPUIndex, "first"),
		attribute.String(semconv.NVDLWorldSize, "16"),
		attribute.String(semconv.SlurmNTasks, "16"),
		semconv.Null(semconv.NVDLLocalRank),
		attribute.String(semconv.DLDataParallelSize, "8"),
		attribute.String(semconv.NVDLJobUUID, "5"),
		attribute.Int(semconv.NVDLRole, 3),
		attribute.Float64(semconv.NVDLRank, 5),
	})
	want := []string{
		`site.id STRING "007"`,
		`nv.gpu.index STRING "first"`,
		`nv.dl.world_size INT64 "16"`,
		`slurm.ntasks STRING "16"`,
		`nv.dl.local_rank null`,
		`dl.data_parallel.size STRING "8"`,
		`nv.dl.job.uuid STRING "5"`,
		`nv.dl.role INT64 "3"`,
		`nv.dl.rank FLOAT64 "5"`,
	}
	if diff := cmp.Diff(want, show(out)); diff != "" {
		t.Errorf("out (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"nv.gpu.index", "nv.dl.role", "nv.dl.rank"}, warns); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestNormalizeOfNothing(t *testing.T) {
	if out, warns := semconv.Normalize(nil); len(out) != 0 || warns != nil {
		t.Errorf("Normalize(nil) = %v, %v", out, warns)
	}
}

// Every resource attribute of the table that is emitted has the converter of its
// type, and nothing else has one.
func TestConvertersAreTheTable(t *testing.T) {
	text := attribute.StringValue("7")
	for _, r := range readTable(t) {
		convert, ok := semconv.ConverterOf(r.name)
		if want := r.kind == "resource" && r.stability != "retired"; ok != want {
			t.Errorf("ConverterOf(%s) is there: %v, want %v", r.name, ok, want)
			continue
		}
		if !ok {
			continue
		}
		want := map[string]attribute.Type{"int": attribute.INT64, "string": attribute.STRING}[r.typ]
		if got, ok := convert(text); !ok || got.Type() != want {
			t.Errorf("the converter of %s made %s of \"7\", want %s", r.name, got.Type(), want)
		}
	}
	if _, ok := semconv.ConverterOf("service.name"); ok {
		t.Error("a key outside the table has a converter")
	}
}

func TestFieldSetsAreTheTable(t *testing.T) {
	var dl, gpu, slurm, retired []string
	for _, r := range readTable(t) {
		switch {
		case r.stability == "retired":
			retired = append(retired, r.name)
		case strings.HasPrefix(r.name, "nv.dl."):
			dl = append(dl, r.name)
		case strings.HasPrefix(r.name, "nv.gpu."):
			gpu = append(gpu, r.name)
		case strings.HasPrefix(r.name, "slurm."):
			slurm = append(slurm, r.name)
		}
	}
	inherited := append(slices.Clone(slurm), "nv.dl.job.uuid", "nv.dl.run.uuid")
	for _, set := range []struct {
		name      string
		want, got []string
	}{
		{"DLKeys", dl, semconv.DLKeys()},
		{"GPUKeys", gpu, semconv.GPUKeys()},
		{"SlurmKeys", slurm, semconv.SlurmKeys()},
		{"InheritedKeys", inherited, semconv.InheritedKeys()},
		{"RetiredSlurmKeys", retired, semconv.RetiredSlurmKeys()},
	} {
		if diff := cmp.Diff(set.want, set.got); diff != "" {
			t.Errorf("%s (-csv +go):\n%s", set.name, diff)
		}
	}
}

// A caller that sorts or cuts what it got must not change what the next one gets.
func TestFieldSetsAreCopies(t *testing.T) {
	semconv.SlurmKeys()[0] = "changed"
	semconv.RetiredSlurmKeys()[0] = "changed"
	if semconv.SlurmKeys()[0] != semconv.SlurmJobID || semconv.RetiredSlurmKeys()[0] != semconv.SlurmNodelist {
		t.Error("a returned set is shared with the package")
	}
}
