"""The story of one container: start, probe, restart with a growing pause, stop in order."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Any

from e2e.pods.images import table
from e2e.pods.kubelet import environment, probes, processes, sources, status, volumes

if TYPE_CHECKING:
    from e2e.pods.kubelet.pod import Pod

# A real kubelet waits ten seconds and up to five minutes; a test has not that long.
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 20.0
LONG_LIFE = 30.0
RETRY_SECONDS = 1.0
HOOK_SECONDS = 60.0


class Container:
    """A container of a pod. What its status tells are plain attributes."""

    def __init__(self, spec: dict[str, Any], pod: Pod) -> None:
        self.spec, self.pod = spec, pod
        self.name: str = spec["name"]
        self.restarts = 0
        self.ready = False
        self.started = asyncio.Event()
        self.exit_code: int | None = None
        self.state: dict[str, Any] = {"waiting": {"reason": "PodInitializing"}}
        self.last_state: dict[str, Any] = {}
        self._process: processes.Process | None = None
        self._env: dict[str, str] = {}

    async def run(self, mounts: volumes.Mounts, policy: str) -> None:
        """Run as often as the policy wants. Cancelled, it leaves its process to `stop`."""
        pause = FIRST_PAUSE
        while True:
            await self._start(mounts)
            begun = time.monotonic()
            await self._live()
            if policy == "Never" or (policy == "OnFailure" and self.exit_code == 0):
                return
            if time.monotonic() - begun > LONG_LIFE:
                pause = FIRST_PAUSE
            self.last_state = self.state
            self.waiting("CrashLoopBackOff", f"back-off {pause:g}s restarting {self.name}")
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)
            self.restarts += 1

    async def stop(self, grace: float) -> None:
        """preStop, SIGTERM, and SIGKILL when the grace is over."""
        if self._process is None:
            return
        begun = time.monotonic()
        hook = self.spec.get("lifecycle", {}).get("preStop")
        if hook and grace:
            await self._hook(hook, grace)
        left = grace - (time.monotonic() - begun)
        self._ended(await self._process.stop(left))

    async def kill(self) -> None:
        """End at once, whatever it does."""
        if self._process is not None:
            self._ended(await self._process.stop(0))

    def waiting(self, reason: str, message: str = "") -> None:
        """It does not run, and why."""
        self.state = {"waiting": {"reason": reason, "message": message}}
        self.pod.changed()

    async def _start(self, mounts: volumes.Mounts) -> None:
        """Start the process, as soon as what it needs is there."""
        while True:
            try:
                program = await self.pod.room.images.find(self.spec.get("image", ""))
                self._process = await self._spawn(program, mounts)
            except table.NoImage as fault:
                self.waiting("ErrImagePull", str(fault))
            except (sources.Missing, volumes.Unmountable) as fault:
                self.waiting("CreateContainerConfigError", str(fault))
            else:
                self.state = {"running": {"startedAt": status.now()}}
                self.pod.changed()
                return
            await asyncio.sleep(RETRY_SECONDS)

    async def _spawn(self, program: table.Program, mounts: volumes.Mounts) -> processes.Process:
        place, folder = self.pod.place, self.pod.folder
        assert place is not None
        told = environment.make(self.spec, self.pod.obj, data=mounts.data, address=place.address)
        base = {"PATH": table.PATH, "HOME": str(folder), "HOSTNAME": self.pod.name}
        self._env = {**base, **program.env, **told}
        return await processes.start(
            environment.command(self.spec, program.argv, told),
            script=volumes.script(self.spec, mounts, folder / "layers" / self.name),
            namespace=place.namespace,
            env=self._env,
            folder=folder,
            log=self.pod.room.folder / f"{self.pod.namespace}-{self.pod.name}-{self.name}.log",
        )

    async def _live(self) -> None:
        assert self._process is not None
        probing = asyncio.create_task(self._probe())
        try:
            self._ended(await self._process.wait())
        finally:
            probing.cancel()
            await asyncio.gather(probing, return_exceptions=True)

    def _ended(self, code: int) -> None:
        begun = self.state.get("running", {}).get("startedAt", status.now())
        tail = self._process.tail() if self._process and code else ""
        self._process = None
        self.exit_code = code
        self.ready = False
        self.started.clear()
        self.state = {
            "terminated": {
                "exitCode": code,
                "reason": "Error" if code else "Completed",
                "message": tail,
                "startedAt": begun,
                "finishedAt": status.now(),
            }
        }
        self.pod.changed()

    async def _probe(self) -> None:
        """Startup first; then readiness and liveness side by side."""
        hook = self.spec.get("lifecycle", {}).get("postStart")
        if hook:
            await self._hook(hook, HOOK_SECONDS)
        if not await self._has_started():
            return
        self.started.set()
        self.ready = "readinessProbe" not in self.spec
        self.pod.changed()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._readiness())
            tasks.create_task(self._liveness())

    async def _has_started(self) -> bool:
        probe = self.spec.get("startupProbe")
        if probe is None:
            return True
        async for healthy in probes.verdicts(probe, lambda: self._attempt(probe)):
            if not healthy:
                await self._restart(probe)
            return healthy
        return False

    async def _readiness(self) -> None:
        probe = self.spec.get("readinessProbe")
        if probe is None:
            return
        async for healthy in probes.verdicts(probe, lambda: self._attempt(probe)):
            if healthy != self.ready:
                self.ready = healthy
                self.pod.changed()

    async def _liveness(self) -> None:
        probe = self.spec.get("livenessProbe")
        if probe is None:
            return
        async for healthy in probes.verdicts(probe, lambda: self._attempt(probe)):
            if not healthy:
                await self._restart(probe)
                return

    async def _restart(self, probe: dict[str, Any]) -> None:
        """Stop an unhealthy process; whoever waits for it starts the next."""
        spec = self.pod.obj["spec"]
        grace = probe.get(
            "terminationGracePeriodSeconds", spec.get("terminationGracePeriodSeconds", 30)
        )
        if self._process is not None:
            await self._process.stop(grace)

    async def _attempt(self, probe: dict[str, Any]) -> bool:
        return await probes.attempt(probe, self._target())

    async def _hook(self, hook: dict[str, Any], deadline: float) -> None:
        if "sleep" in hook:
            await asyncio.sleep(min(hook["sleep"]["seconds"], deadline))
            return
        with contextlib.suppress(*probes.FAILURES):
            async with asyncio.timeout(deadline):
                await probes.attempt(hook, self._target())

    def _target(self) -> probes.Target:
        assert self.pod.place is not None
        ports = {p["name"]: p["containerPort"] for p in self.spec.get("ports", ()) if "name" in p}
        return probes.Target(self.pod.place.address, ports, self._execute)

    async def _execute(self, argv: list[str]) -> int:
        return await self._process.execute(argv, self._env) if self._process else 1
