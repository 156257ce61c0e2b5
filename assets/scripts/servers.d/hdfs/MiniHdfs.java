import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/** Runs one NameNode and one DataNode on loopback until the process is told to end. */
public class MiniHdfs {
  public static void main(String[] args) throws Exception {
    Configuration settings = new Configuration();
    settings.setBoolean("dfs.permissions.enabled", false);
    settings.set("dfs.datanode.hostname", "127.0.0.1");
    settings.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, new File(args[1]).getAbsolutePath());
    MiniDFSCluster cluster =
        new MiniDFSCluster.Builder(settings)
            .nameNodePort(Integer.parseInt(args[0]))
            .numDataNodes(1)
            .format(true)
            .build();
    cluster.waitActive();
    System.out.println("HDFS listens on 127.0.0.1:" + cluster.getNameNodePort());
    Runtime.getRuntime().addShutdownHook(new Thread(cluster::shutdown));
    Thread.currentThread().join();
  }
}
