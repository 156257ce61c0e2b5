package database

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"
	"time"

	"sluice/engine/batch"
	"sluice/engine/project"
	"sluice/engine/transform"
)

// Dialect is what this package and the transforms of family sql must know of a
// kind of database.
type Dialect interface {
	transform.Dialect
	// Bind gives the driver's value for row i of a typed column of field f; a
	// null is not asked for.
	Bind(f *batch.Field, col *batch.Column, i int) (any, error)
	// Append adds a value of the driver to a column of field f. src is borrowed.
	// The error says what the value was and what to do.
	Append(col *batch.Column, f *batch.Field, src any) error
	// Hint says what to try after an error of the driver; empty when there is
	// nothing to say.
	Hint(err error) string
	// OneWriter says that the database takes one writing transaction at a time and
	// that an open query keeps it from being committed.
	OneWriter() bool
	// Absent says that an error means: there is no such table or column.
	Absent(err error) bool
	// QuoteText makes a text literal.
	QuoteText(text string) string
	// Schema gives the schema that tables are in when none is named.
	Schema() string
}

// kind is one type of database: a file of this package and a line in kinds.
type kind struct {
	id   string // Hop's plugin id
	open func(s Settings) (*connection, error)
}

// kinds lists the supported types of database.
var kinds = []kind{
	{id: "SQLITE", open: openSQLite},
}

func kindOf(id string) *kind {
	for i := range kinds {
		if strings.EqualFold(kinds[i].id, id) {
			return &kinds[i]
		}
	}
	return nil
}

// Supported lists the types of database that can be opened, by Hop's plugin ids.
func Supported() []string {
	ids := make([]string, len(kinds))
	for i := range kinds {
		ids[i] = kinds[i].id
	}
	return ids
}

// Settings are a connection's settings with variables resolved and the password
// decoded.
type Settings struct {
	Name       string
	Host, Port string
	Database   string
	User       string
	Password   project.Secret
	URL        string // not empty: instead of host, port and database
	Options    []project.Attribute
	ConnectSQL []string
	Schema     string // preferred schema
	Booleans   bool   // the database has a boolean type
	Timestamps bool   // timestamps are read as Timestamp, not as Date
	Location   *time.Location
}

func newSettings(scope *project.Variables, r *project.RDBMS, loc *time.Location) (Settings, error) {
	s := Settings{
		Name: r.Name, Location: loc,
		Booleans: r.Flag("SUPPORTS_BOOLEAN_DATA_TYPE", false), Timestamps: r.Flag("SUPPORTS_TIMESTAMP_DATA_TYPE", false),
	}
	var err error
	resolve := func(label, text string) string {
		if err != nil {
			return ""
		}
		var out string
		if out, err = scope.Resolve(text); err != nil {
			err = fmt.Errorf("connection %q, %s: %w", r.Name, label, err)
		}
		return out
	}
	s.Host, s.Port = resolve("host", r.Hostname), resolve("port", r.Port)
	s.Database, s.User = resolve("database", r.DatabaseName), resolve("user name", r.Username)
	s.URL, s.Schema = resolve("URL", r.ManualURL), resolve("schema", r.Attribute("PREFERRED_SCHEMA_NAME"))
	s.ConnectSQL = Split(resolve("SQL after connecting", r.ConnectSQL()))
	for _, o := range r.Options() {
		s.Options = append(s.Options, project.Attribute{Name: o.Name, Value: resolve("option "+o.Name, o.Value)})
	}
	if err != nil {
		return s, err
	}
	if s.Password, err = project.ResolvePassword(scope, r.Password); err != nil {
		return s, fmt.Errorf("connection %q, password: %w", r.Name, err)
	}
	return s, nil
}

// identity is equal for settings that lead to the same database in the same way.
func (s *Settings) identity() string {
	return fmt.Sprintf("%q", append([]string{
		s.Name, s.Host, s.Port, s.Database, s.User, s.Password.Reveal(), s.URL, s.Schema, fmt.Sprint(s.Options, s.Booleans, s.Timestamps),
	}, s.ConnectSQL...))
}

// newDB makes the *sql.DB of a connector that runs the statements of the settings
// after each connect.
func (s *Settings) newDB(c driver.Connector) *sql.DB {
	if len(s.ConnectSQL) > 0 {
		c = &greetingConnector{Connector: c, statements: s.ConnectSQL}
	}
	return sql.OpenDB(c)
}
