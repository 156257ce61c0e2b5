package database_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/engine/database"
	"sluice/engine/project"
)

func probed(t *testing.T, text string) ([]database.Step, error) {
	t.Helper()
	m := project.OpenMetadata(t.TempDir())
	o, err := m.New(project.TypeRDBMS, "db")
	if err != nil {
		t.Fatal(err)
	}
	sheet, err := project.NewSheet("db", text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := project.RDBMSOf(o.With(sheet.Document()))
	if err != nil {
		t.Fatal(err)
	}
	var steps []database.Step
	err = database.Probe(t.Context(), r, project.SystemVariables(project.System{}), func(s database.Step) { steps = append(steps, s) })
	return steps, err
}

func TestAProbeTellsItsStepsAndMakesNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new.db")
	steps, err := probed(t, `{"name":"db","rdbms":{"SQLITE":{"databaseName":"`+file+`"}}}`)
	if err == nil || len(steps) != 2 || steps[1].Err == nil || !strings.Contains(err.Error(), "there is no database file") {
		t.Errorf("an absent file gave %v, %v", steps, err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the probe made the database")
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	steps, err = probed(t, `{"name":"db","rdbms":{"SQLITE":{"databaseName":"`+file+`"}}}`)
	if err != nil || len(steps) != 5 || steps[0].Remark != file {
		t.Errorf("the probe of an empty database gave %+v, %v", steps, err)
	}
	if st, err := os.Stat(file); err != nil || st.Size() != 0 {
		t.Errorf("the probe wrote %v, %v", st, err)
	}
}

func TestAProbeOfAnotherTypeSaysSo(t *testing.T) {
	steps, err := probed(t, `{"name":"db","rdbms":{"NOSUCHDB":{"hostname":"h"}}}`)
	if err == nil || len(steps) != 1 || !strings.Contains(err.Error(), "NOSUCHDB") {
		t.Errorf("the probe gave %v, %v", steps, err)
	}
}
