package project

import (
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
)

// Names of variables that Hop defines for installations and projects.
const (
	VariableConfigFolder      = "HOP_CONFIG_FOLDER"
	VariableAuditFolder       = "HOP_AUDIT_FOLDER"
	VariableMetadataFolder    = "HOP_METADATA_FOLDER"
	VariableUnitTestsFolder   = "HOP_UNIT_TESTS_FOLDER"
	VariableDatasetsFolder    = "HOP_DATASETS_FOLDER"
	VariableProjectHome       = "PROJECT_HOME"
	VariableProjectName       = "HOP_PROJECT_NAME"
	VariableEnvironmentName   = "HOP_ENVIRONMENT_NAME"
	VariableParentProjectHome = "PARENT_PROJECT_HOME"
	VariableParentProjectName = "PARENT_PROJECT_NAME"
	VariableVersion           = "HOP_VERSION"
	VariablePlatformOS        = "HOP_PLATFORM_OS"
	VariablePlatformRuntime   = "HOP_PLATFORM_RUNTIME"
)

// startupNames are the environment variables that become variables. Hop does
// not show the environment of the process to pipelines; its start scripts pass
// on just these. The last one is ours.
var startupNames = []string{
	VariableConfigFolder, VariableAuditFolder, "HOP_SHARED_JDBC_FOLDERS", "HOP_PLUGIN_BASE_FOLDERS",
	"HOP_PASSWORD_ENCODER_PLUGIN", variableAESKey, variableAESKeyFile,
	"SLUICE_SNAPSHOTS",
}

// System describes the process for [SystemVariables]. Fields left empty are
// asked of the operating system.
type System struct {
	Version string // of this engine, shown as HOP_VERSION
	Runtime string // HOP_PLATFORM_RUNTIME: Run, GUI, …; empty leaves it out
	WorkDir string
	HomeDir string
	TempDir string
	User    string
	Getenv  func(name string) string // nil is os.Getenv
}

// SystemVariables returns a new scope with what Hop puts under every scope:
// the properties of the Java machine that files refer to, and the few
// environment variables that Hop's start scripts pass on.
//
// The behaviour switches (HOP_EMPTY_STRING_DIFFERS_FROM_NULL and so on) are
// not among them: in Hop too they are defined only by hop-config.json, and
// who reads one has its default.
func SystemVariables(system System) *Variables {
	v := NewVariables()
	v.SetAll(map[string]string{
		"java.io.tmpdir":   orElse(system.TempDir, os.TempDir),
		"user.home":        orElse(system.HomeDir, homeDir),
		"user.dir":         orElse(system.WorkDir, workDir),
		"user.name":        orElse(system.User, userName),
		"os.name":          osName(runtime.GOOS),
		"os.arch":          runtime.GOARCH,
		"file.separator":   string(filepath.Separator),
		"path.separator":   string(filepath.ListSeparator),
		"line.separator":   lineSeparator(runtime.GOOS),
		"file.encoding":    "UTF-8",
		VariablePlatformOS: platformOS(runtime.GOOS),
	})
	if system.Version != "" {
		v.Set(VariableVersion, system.Version)
	}
	if system.Runtime != "" {
		v.Set(VariablePlatformRuntime, system.Runtime)
	}
	getenv := system.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	for _, name := range startupNames {
		if value := getenv(name); value != "" {
			v.Set(name, value)
		}
	}
	return v
}

func orElse(value string, ask func() string) string {
	if value != "" {
		return value
	}
	return ask()
}

func homeDir() string {
	dir, err := os.UserHomeDir()
	if err != nil {
		return os.TempDir() // a process without a home still needs a place
	}
	return dir
}

func workDir() string {
	dir, err := os.Getwd()
	if err != nil {
		return "."
	}
	return dir
}

func userName() string {
	u, err := user.Current()
	if err != nil {
		return os.Getenv("USER")
	}
	// Windows answers DOMAIN\name; Java tells the name alone.
	return u.Username[strings.LastIndexByte(u.Username, '\\')+1:]
}

// osName gives Java's os.name, which scripts compare.
func osName(goos string) string {
	switch goos {
	case "darwin":
		return "Mac OS X"
	case "windows":
		return "Windows"
	case "linux":
		return "Linux"
	case "freebsd":
		return "FreeBSD"
	}
	return goos
}

// platformOS gives what Hop's start scripts set, which is what uname says.
func platformOS(goos string) string {
	switch goos {
	case "darwin":
		return "Darwin"
	case "windows":
		return "Windows"
	}
	return osName(goos)
}

func lineSeparator(goos string) string {
	if goos == "windows" {
		return "\r\n"
	}
	return "\n"
}
