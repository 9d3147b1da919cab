from gpu_nim.backends.selection import select as select
from gpu_nim.jobs.clusters import Cluster as Cluster
from gpu_nim.jobs.clusters import cluster as cluster
from gpu_nim.jobs.count import DeviceArray as DeviceArray
from gpu_nim.jobs.count import Values as Values
from gpu_nim.jobs.count_job import CountJob as CountJob
from gpu_nim.jobs.growth_job import GrowthJob as GrowthJob
from gpu_nim.jobs.growth_job import Outputs as Outputs
