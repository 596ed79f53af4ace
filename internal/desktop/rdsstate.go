package desktop

// RDSState is the state of the agent on an RDS server.
type RDSState string

// The states of an RDS server.
const (
	RDSWaitForAgent      RDSState = "WAIT_FOR_AGENT"    // the agent has never reported, or not yet since the connection server started
	RDSAgentUnreachable  RDSState = "AGENT_UNREACHABLE" // the agent stopped reporting
	RDSAgentConfigError  RDSState = "AGENT_CONFIG_ERROR"
	RDSAvailable         RDSState = "AVAILABLE"
	RDSDisabled          RDSState = "DISABLED"
	RDSDisableInProgress RDSState = "DISABLE_IN_PROGRESS" // disabled, and sessions remain
	RDSProvisioning      RDSState = "PROVISIONING"
	RDSProvisioningError RDSState = "PROVISIONING_ERROR"
	RDSCustomizing       RDSState = "CUSTOMIZING"
	RDSDeleting          RDSState = "DELETING"
	RDSMaintenance       RDSState = "MAINTENANCE"
	RDSError             RDSState = "ERROR"
	RDSProvisioned       RDSState = "PROVISIONED"
	RDSConnected         RDSState = "CONNECTED"
	RDSDisconnected      RDSState = "DISCONNECTED"
	RDSStartupInProgress RDSState = "AGENT_ERR_STARTUP_IN_PROGRESS"
	RDSAgentDisabled     RDSState = "AGENT_ERR_DISABLED"
	RDSInvalidIP         RDSState = "AGENT_ERR_INVALID_IP"
	RDSNeedReboot        RDSState = "AGENT_ERR_NEED_REBOOT"
	RDSProtocolFailure   RDSState = "AGENT_ERR_PROTOCOL_FAILURE"
	RDSDomainFailure     RDSState = "AGENT_ERR_DOMAIN_FAILURE"
	RDSDrainMode         RDSState = "AGENT_DRAIN_MODE"
	RDSDrainUntilRestart RDSState = "AGENT_DRAIN_UNTIL_RESTART"
	RDSAlreadyUsed       RDSState = "ALREADY_USED"
	RDSInProgress        RDSState = "IN_PROGRESS"
	RDSValidating        RDSState = "VALIDATING"
	RDSUnknown           RDSState = "UNKNOWN"
)

// statusOfState maps each state of the API to its status.
var statusOfState = map[RDSState]RDSStatus{
	RDSWaitForAgent:      RDSStatusWarning,
	RDSAgentUnreachable:  RDSStatusError,
	RDSAgentConfigError:  RDSStatusError,
	RDSAvailable:         RDSStatusOK,
	RDSDisabled:          RDSStatusDisabled,
	RDSDisableInProgress: RDSStatusDisabled,
	RDSProvisioning:      RDSStatusWarning,
	RDSProvisioningError: RDSStatusError,
	RDSCustomizing:       RDSStatusWarning,
	RDSDeleting:          RDSStatusWarning,
	RDSMaintenance:       RDSStatusWarning,
	RDSError:             RDSStatusError,
	RDSProvisioned:       RDSStatusOK,
	RDSConnected:         RDSStatusOK,
	RDSDisconnected:      RDSStatusOK,
	RDSStartupInProgress: RDSStatusWarning,
	RDSAgentDisabled:     RDSStatusError,
	RDSInvalidIP:         RDSStatusError,
	RDSNeedReboot:        RDSStatusError,
	RDSProtocolFailure:   RDSStatusError,
	RDSDomainFailure:     RDSStatusError,
	RDSDrainMode:         RDSStatusWarning,
	RDSDrainUntilRestart: RDSStatusWarning,
	RDSAlreadyUsed:       RDSStatusWarning,
	RDSInProgress:        RDSStatusWarning,
	RDSValidating:        RDSStatusWarning,
	RDSUnknown:           RDSStatusWarning,
}

// stateReasons explains the states that are not healthy.
var stateReasons = map[RDSState]string{
	RDSWaitForAgent:      "its agent has never reported",
	RDSAgentUnreachable:  "its agent has not reported for two intervals",
	RDSAgentConfigError:  "its agent reports an error in its configuration",
	RDSDisabled:          "it is disabled",
	RDSDisableInProgress: "it is disabled and still has sessions",
	RDSProvisioning:      "it is being provisioned",
	RDSProvisioningError: "its provisioning failed",
	RDSCustomizing:       "it is being customized",
	RDSDeleting:          "it is being deleted",
	RDSMaintenance:       "it is in maintenance",
	RDSError:             "its agent reports an error",
	RDSStartupInProgress: "its agent is starting",
	RDSAgentDisabled:     "its agent is disabled",
	RDSInvalidIP:         "its agent reports an invalid IP address",
	RDSNeedReboot:        "it must be restarted",
	RDSProtocolFailure:   "its agent reports a failure of a display protocol",
	RDSDomainFailure:     "its agent reports a failure of the domain",
	RDSDrainMode:         "it is in drain mode and takes no new sessions",
	RDSDrainUntilRestart: "it takes no new sessions until it is restarted",
	RDSAlreadyUsed:       "it is used already",
	RDSInProgress:        "a change of it is in progress",
	RDSValidating:        "it is being validated",
	RDSUnknown:           "its state is unknown",
}

// Reason explains in words a state that is not healthy. It is empty for a healthy one.
func (s RDSState) Reason() string { return stateReasons[s] }

// Known reports whether s is a state of the API.
func (s RDSState) Known() bool {
	_, ok := statusOfState[s]
	return ok
}

// RDSStatus is the health of an RDS server.
type RDSStatus string

// The statuses of an RDS server.
const (
	RDSStatusOK       RDSStatus = "OK"
	RDSStatusWarning  RDSStatus = "WARNING"
	RDSStatusError    RDSStatus = "ERROR"
	RDSStatusDisabled RDSStatus = "DISABLED"
)

// LoadPreference is how suitable a server is for another session.
type LoadPreference string

// The load preferences.
const (
	LoadBlock   LoadPreference = "BLOCK"
	LoadHeavy   LoadPreference = "HEAVY"
	LoadNormal  LoadPreference = "NORMAL"
	LoadLight   LoadPreference = "LIGHT"
	LoadUnknown LoadPreference = "UNKNOWN"
)

// OperatingSystem is the operating system of an RDS server.
type OperatingSystem string

// The operating systems the API knows.
const (
	OSUnknown       OperatingSystem = "UNKNOWN"
	OSWindows2003   OperatingSystem = "WINDOWS_SERVER_2003"
	OSWindows2008   OperatingSystem = "WINDOWS_SERVER_2008"
	OSWindows2008R2 OperatingSystem = "WINDOWS_SERVER_2008_R2"
	OSWindows2012   OperatingSystem = "WINDOWS_SERVER_2012"
	OSWindows2012R2 OperatingSystem = "WINDOWS_SERVER_2012_R2"
	OSWindows2016   OperatingSystem = "WINDOWS_SERVER_2016"
	OSLinuxOther    OperatingSystem = "LINUX_SERVER_OTHER"
)

// Known reports whether o is a system of the API.
func (o OperatingSystem) Known() bool {
	switch o {
	case OSUnknown, OSWindows2003, OSWindows2008, OSWindows2008R2, OSWindows2012, OSWindows2012R2, OSWindows2016, OSLinuxOther:
		return true
	}
	return false
}
